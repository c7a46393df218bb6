// Data at every arrow: what went in, what came out, what the rule wrote.

import type { ReactNode } from "react";

import type { AttemptWhole, Json, JsonObject } from "../../../api/types";
import { CopyButton } from "../../../parts/Commands";
import { JsonView } from "../../../parts/JsonView";
import { duration } from "../../../words/time";
import { directiveWords, taskWords } from "./attemptWords";
import { RuleLink } from "./RuleLink";

export function DataFlow({ run, attempt }: { run: string; attempt: AttemptWhole }): ReactNode {
  const { seconds, kind, directive } = attempt;
  return (
    <div className="attempts-flow">
      <Panel title="Inputs" value={attempt.inputs} none="It was given nothing." />
      <Arrow>
        {kind ?? taskWords(attempt)}
        {seconds !== null && <span className="soft">{duration(seconds)}</span>}
      </Arrow>
      <Panel title="Outcome" value={outcomeOf(attempt)} none={noOutcome(attempt)} />
      <Arrow>
        {directive === null ? (
          <span className="soft">nothing decided</span>
        ) : (
          <>
            <RuleLink run={run} rule={attempt.rule} unmet={attempt.unmet} />
            <span>{directiveWords(attempt)}</span>
          </>
        )}
      </Arrow>
      <Panel title="What the rule set" value={patchesOf(attempt)} none="It wrote nothing." />
    </div>
  );
}

/** All that came back; what the tool did not say is left out. */
export function outcomeOf(attempt: AttemptWhole): JsonObject | null {
  if (attempt.status === "working") return null;
  const { error, result, helpers } = attempt;
  const said: JsonObject = {};
  if (error !== null) said["error"] = error;
  if (result !== null) said["result"] = result;
  for (const [name, value] of Object.entries(helpers)) said[name] = value;
  return Object.keys(said).length === 0 ? null : said;
}

function patchesOf({ patches }: AttemptWhole): JsonObject | null {
  return Object.keys(patches).length === 0 ? null : patches;
}

function noOutcome({ status }: AttemptWhole): string {
  if (status === "working") return "It is running.";
  return status === "ok" ? "It succeeded and returned nothing." : "It ended without an outcome.";
}

interface PanelProps {
  title: string;
  value: Json;
  none: string;
}

function Panel({ title, value, none }: PanelProps): ReactNode {
  return (
    <section className="attempts-panel" aria-label={title}>
      <div className="row">
        <h3>{title}</h3>
        {value !== null && <CopyButton text={JSON.stringify(value, null, 2)} />}
      </div>
      {value === null ? <p className="soft">{none}</p> : <JsonView value={value} />}
    </section>
  );
}

function Arrow({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="attempts-arrow small">
      {children}
      <svg viewBox="0 0 48 12" aria-hidden="true" fill="none" stroke="currentColor">
        <path d="M1 6H45M39 1.5 46 6 39 10.5" strokeWidth="1.6" strokeLinejoin="round" />
      </svg>
    </div>
  );
}
