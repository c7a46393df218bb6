// The worst case of a program, from its document alone: how often, how long, and what is left open.

import type { ReactNode } from "react";

import type { ProgramShown } from "../../../api/types";
import { quoted } from "../../../parts/Commands";
import { Failure, Loading, Notice } from "../../../parts/Notice";
import { useInspected } from "../editor/useInspected";
import { lastPart } from "../source";
import { BoundsTables } from "./BoundsTables";
import { Reasons, Warnings } from "./Reasons";
import { amountText, boundsReport, timeText } from "./report";

export function BoundsTab({ program }: { program: ProgramShown }): ReactNode {
  const found = useInspected(program);
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the worst case" />;
  }
  if (found.data.bounds === null) {
    const why = found.data.findings.find((one) => one.rule === "bounds")?.message;
    return <Notice tone="late">There is no worst case to show: {why ?? "see its errors."}</Notice>;
  }
  const report = boundsReport(found.data.bounds);
  return (
    <>
      <dl className="programs-figures">
        <Figure name="executions at most" value={amountText(report.executions)} />
        <Figure name="in waits at most" value={timeText(report.waits_seconds)} />
        <Figure name="in all at most" value={timeText(report.total_seconds)} />
      </dl>
      <Reasons
        title="What the document leaves open"
        program={program}
        reasons={report.unbounded}
        none="Nothing: every loop, retry and wait has an end."
      />
      <Warnings program={program} warnings={report.warnings} />
      {report.assumed.length > 0 && (
        <Reasons title="What is assumed" program={program} reasons={report.assumed} none="" />
      )}
      <BoundsTables program={program} report={report} />
      <details className="sheet">
        <summary>As lines of text</summary>
        <pre className="programs-lines">{found.data.bounds_lines.join("\n")}</pre>
      </details>
      <p className="small soft">
        The same on a command line: <code>anew bounds {quoted(lastPart(program.file))}</code>
      </p>
    </>
  );
}

function Figure({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
