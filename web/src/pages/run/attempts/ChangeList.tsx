// What differs between two values, each change by its path; long texts line by line.

import type { ReactNode } from "react";

import type { Json } from "../../../api/types";
import { CHANGES_MAX, isTextChange, kindOf, type Change } from "../../../words/diff";
import { TextDiff } from "./TextDiff";

const SIGNS = { added: "+", removed: "−", changed: "≠" } as const;
const TEXT_SHOWN = 1_000;

interface ChangeListProps {
  changes: readonly Change[];
  label: string;
}

export function ChangeList({ changes, label }: ChangeListProps): ReactNode {
  return (
    <>
      <ul className="attempts-changes small" aria-label={`${label}: what differs`}>
        {changes.map((change) => (
          <ChangeRow key={change.path} change={change} />
        ))}
      </ul>
      {changes.length === CHANGES_MAX && (
        <p className="soft small">Only the first {CHANGES_MAX} differences are shown.</p>
      )}
    </>
  );
}

function ChangeRow({ change }: { change: Change }): ReactNode {
  const kind = kindOf(change);
  return (
    <li className={`attempts-change attempts-${kind}`}>
      <span className="attempts-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <code className="attempts-path">{change.path || "all of it"}</code>
      <span className="attempts-values">
        <span className="visually-hidden">{kind}: </span>
        {isTextChange(change) ? (
          <TextDiff before={change.before} after={change.after} label={change.path} />
        ) : (
          <Values change={change} />
        )}
      </span>
    </li>
  );
}

function Values({ change: { before, after } }: { change: Change }): ReactNode {
  return (
    <>
      {before !== undefined && <del>{valueShown(before)}</del>}
      {before !== undefined && after !== undefined && <span aria-hidden="true"> → </span>}
      {after !== undefined && <ins>{valueShown(after)}</ins>}
    </>
  );
}

function valueShown(value: Json): ReactNode {
  const text = JSON.stringify(value);
  const isLong = text.length > TEXT_SHOWN;
  return <code>{isLong ? `${text.slice(0, TEXT_SHOWN)}…` : text}</code>;
}
