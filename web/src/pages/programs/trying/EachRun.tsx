// Each run that was played: how it ended and would have ended, how sure that is, what it would have
// cost, where it goes another way, and a fork that does it.

import { useState, type ReactNode } from "react";

import { Mark } from "../../../parts/Mark";
import { Link } from "../../../router";
import type { Look } from "../../../words/states";
import { Table } from "../bounds/Table";
import type { Source } from "../source";
import { ForkWith } from "./ForkWith";
import { endText, extraText, extraTime, surenessOf, type RunPlayed, type Sureness } from "./report";

const LOOKS: { [sure in Sureness]: Look } = {
  certain: { word: "for certain", tone: "good", shape: "tick" },
  doubt: { word: "in doubt", tone: "late", shape: "clock" },
  model: { word: "by the model", tone: "ask", shape: "dots" },
  unknown: { word: "unknown", tone: "cut", shape: "slash" },
};

export function EachRun({ runs, source }: { runs: RunPlayed[]; source: Source }): ReactNode {
  const [asked, setAsked] = useState<RunPlayed | null>(null);
  return (
    <>
      <Table
        title="Each run"
        heads={["run", "how it ends", "how sure", "calls", "waiting", "goes another way", "fork"]}
        rows={runs.map((one) => [
          <Link key="run" className="programs-run" to={`/runs/${one.run}`}>
            {one.run}
          </Link>,
          one.becomes === one.was ? `${one.was}, as it did` : `${one.was} → ${endText(one)}`,
          <Mark key="sure" look={LOOKS[surenessOf(one)]} />,
          extraText(one.calls),
          extraTime(one.waiting),
          <Differs key="differs" one={one} />,
          <button
            key="fork"
            type="button"
            className="small"
            aria-label={`Fork run ${one.run} with this policy`}
            onClick={() => setAsked(one)}
          >
            Fork …
          </button>,
        ])}
      />
      {asked !== null && <ForkWith played={asked} source={source} onClose={() => setAsked(null)} />}
    </>
  );
}

function Differs({ one: { run, differs, unknown } }: { one: RunPlayed }): ReactNode {
  return (
    <>
      {differs === null ? (
        <span className="soft">nowhere</span>
      ) : (
        <>
          <Link to={`/runs/${run}?at=${differs.seq}`}>event {differs.seq}</Link>, {differs.place}:{" "}
          {differs.was ?? "nothing more"} → {differs.becomes ?? "nothing more"}
        </>
      )}
      {unknown.map((why) => (
        <p key={why} className="small soft">
          unknown: {why}
        </p>
      ))}
    </>
  );
}
