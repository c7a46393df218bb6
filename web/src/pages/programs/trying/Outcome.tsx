// How runs would have gone under another document: in one sentence, in figures, run by run, and as
// the lines of `anew whatif`.

import { useEffect, useRef, type ReactNode } from "react";

import type { WhatifShown } from "../../../api/types";
import { Notice } from "../../../parts/Notice";
import { Link } from "../../../router";
import type { Source } from "../source";
import { EachRun } from "./EachRun";
import { extraText, extraTime, movedText, verdict, whatifReport } from "./report";

interface OutcomeProps {
  shown: WhatifShown;
  source: Source;
  /** The text has been changed since. */
  isOld: boolean;
}

export function Outcome({ shown, source, isOld }: OutcomeProps): ReactNode {
  const report = whatifReport(shown.report);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    // Newer browsers answer with a promise, which is nothing to clean up.
    void box.current?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  const { calls, waiting, unknown } = report;
  return (
    <section ref={box} className="sheet stack" aria-label="How it would have gone">
      <div role="status">
        <h2>{verdict(report)}</h2>
      </div>
      {isOld && <Notice tone="late">The text was changed since. Try it again.</Notice>}
      <dl className="facts">
        <dt>failed → done</dt>
        <dd>{movedText(report.rescued)}</dd>
        <dt>done → failed</dt>
        <dd>{movedText(report.broken)}</dd>
        <dt>unknown</dt>
        <dd>{unknown.high > 0 ? `${unknown.mean.toFixed(1)} of ${report.runs}` : "none"}</dd>
        <dt>calls</dt>
        <dd>
          {calls.before.toLocaleString("en")} before, {extraText(calls.extra)}
        </dd>
        <dt>waiting</dt>
        <dd>{extraTime(waiting.extra)}</dd>
        {report.policies.length > 0 && (
          <>
            <dt>policies changed</dt>
            <dd>{report.policies.join(", ")}</dd>
          </>
        )}
        {report.changes.length > 0 && (
          <>
            <dt>changed as well</dt>
            <dd>{report.changes.join("; ")}</dd>
          </>
        )}
      </dl>
      <EachRun runs={report.each} source={source} />
      {report.left_out.length > 0 && (
        <ul className="programs-reasons">
          {report.left_out.map(({ run, why }) => (
            <li key={run}>
              <Link to={`/runs/${run}`}>{run}</Link> was left out: {why}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>As lines of text</summary>
        <pre className="programs-lines">{shown.lines.join("\n")}</pre>
      </details>
    </section>
  );
}
