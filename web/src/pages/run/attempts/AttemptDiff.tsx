// How two attempts differ, part by part: by path, or as text line by line.

import { useState, type ReactNode } from "react";

import type { AttemptWhole, Json } from "../../../api/types";
import { changesOf } from "../../../words/diff";
import { duration } from "../../../words/time";
import { numberWords, outcomeWord } from "./attemptWords";
import { ChangeList } from "./ChangeList";
import { lineText, logLines, printedBy } from "./logLines";
import { TextDiff } from "./TextDiff";

interface AttemptDiffProps {
  before: AttemptWhole;
  after: AttemptWhole;
}

type Part = readonly [name: string, of: (attempt: AttemptWhole) => Json];

const PARTS: readonly Part[] = [
  ["Inputs", (one) => one.inputs],
  ["Result", (one) => one.result],
  ["Helpers", (one) => one.helpers],
  ["Error", (one) => one.error],
  ["What the rule set", (one) => one.patches],
];

export function AttemptDiff({ before, after }: AttemptDiffProps): ReactNode {
  const [isText, setText] = useState(false);
  return (
    <div className="stack">
      <div className="row">
        <h3>
          From attempt {before.attempt} to attempt {after.attempt}
        </h3>
        <span className="small soft">
          {numberWords(before)}: {tellOf(before)} → {numberWords(after)}: {tellOf(after)}
        </span>
        <label className="row small attempts-close">
          <input
            type="checkbox"
            checked={isText}
            onChange={(event) => setText(event.target.checked)}
          />
          As text, line by line
        </label>
      </div>
      {PARTS.map(([name, of]) => (
        <PartDiff key={name} {...{ name, isText }} before={of(before)} after={of(after)} />
      ))}
      <LogsDiff before={before} after={after} />
    </div>
  );
}

function tellOf(attempt: AttemptWhole): string {
  const took = attempt.seconds === null ? "" : ` in ${duration(attempt.seconds)}`;
  return outcomeWord(attempt) + took;
}

interface PartDiffProps {
  name: string;
  before: Json;
  after: Json;
  isText: boolean;
}

function PartDiff({ name, isText, ...of }: PartDiffProps): ReactNode {
  const before = of.before ?? emptied(of.after);
  const after = of.after ?? emptied(of.before);
  const changes = changesOf(before, after);
  return (
    <section className="attempts-part" aria-label={name}>
      <h3>
        {name} {changes.length === 0 && <span className="soft small">the same</span>}
      </h3>
      {changes.length > 0 &&
        (isText ? (
          <TextDiff before={pretty(before)} after={pretty(after)} label={name} />
        ) : (
          <ChangeList changes={changes} label={name} />
        ))}
    </section>
  );
}

/** In the place of nothing: every member of the other is then shown by itself. */
function emptied(other: Json): Json {
  const hasNames = other !== null && typeof other === "object" && !Array.isArray(other);
  return hasNames ? {} : null;
}

function pretty(value: Json): string {
  return JSON.stringify(value, null, 2);
}

function LogsDiff({ before, after }: AttemptDiffProps): ReactNode {
  const [old, young] = [logText(before), logText(after)];
  return (
    <section className="attempts-part" aria-label="Logs">
      <h3>Logs {old === young && <span className="soft small">the same</span>}</h3>
      {old !== young && <TextDiff before={old} after={young} label="Logs" />}
    </section>
  );
}

function logText(attempt: AttemptWhole): string {
  return logLines(printedBy(attempt), null, "")
    .map((line) => `${line.stream}: ${lineText(line)}`)
    .join("\n");
}
