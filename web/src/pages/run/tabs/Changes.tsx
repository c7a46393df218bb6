// What differs between two values, one line each.

import type { ReactNode } from "react";

import type { Json } from "../../../api/types";
import { CHANGES_MAX, type Change } from "../../../words/diff";

const TEXT_SHOWN = 200;

interface ChangesProps {
  title: string;
  changes: readonly Change[];
  none: string;
}

export function Changes({ title, changes, none }: ChangesProps): ReactNode {
  return (
    <div className="run-changes small">
      <h3>{title}</h3>
      {changes.length === 0 ? (
        <p className="soft">{none}</p>
      ) : (
        <ul className="run-lines">
          {changes.map((change) => (
            <li key={change.path}>
              <code>{change.path || "all of it"}</code> {changeShown(change)}
            </li>
          ))}
        </ul>
      )}
      {changes.length === CHANGES_MAX && <p className="soft">and maybe more</p>}
    </div>
  );
}

function changeShown({ before, after }: Change): ReactNode {
  if (before === undefined) return <>set to {text(after)}</>;
  if (after === undefined) return <>taken away, was {text(before)}</>;
  return (
    <>
      from {text(before)} to {text(after)}
    </>
  );
}

function text(value: Json | undefined): ReactNode {
  const whole = JSON.stringify(value) ?? "nothing";
  const isLong = whole.length > TEXT_SHOWN;
  return <code title={whole}>{isLong ? `${whole.slice(0, TEXT_SHOWN)}…` : whole}</code>;
}
