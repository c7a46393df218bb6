// The runs that this one belongs to, goes on from, or has started.

import { useState, type ReactNode } from "react";

import type { ChildShown, RunPicture, Status } from "../../api/types";
import { Link } from "../../router";
import { counted } from "../../words/time";

const CHILDREN_AT_FIRST = 6;

const LIVE: readonly Status[] = ["new", "queued", "running", "waiting", "paused"];

function RunLink({ run }: { run: string }): ReactNode {
  return <Link to={`/runs/${run}`}>{run}</Link>;
}

export function Kin({ picture }: { picture: RunPicture }): ReactNode {
  const { parent, parent_step, continues, continued_as, shared_with, children } = picture;
  const relations: [string, string, ReactNode][] = [];
  if (parent !== null) {
    relations.push(["parent", parent, parent_step !== null && ` (its step ${parent_step})`]);
  }
  if (shared_with !== null) relations.push(["forked from", shared_with, null]);
  if (continues !== null) relations.push(["continues", continues, null]);
  if (continued_as !== null) relations.push(["continued as", continued_as, null]);
  if (relations.length === 0 && children.length === 0) return null;
  return (
    <div className="run-facts small" aria-label="Related runs" role="group">
      {relations.map(([word, run, more]) => (
        <span key={word}>
          <span className="soft">{word}</span> <RunLink run={run} />
          {more}
        </span>
      ))}
      {children.length > 0 && <Children found={children} />}
    </div>
  );
}

function Children({ found }: { found: readonly ChildShown[] }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  // Those that are still at it are what someone looks for.
  const ordered = found.toSorted(
    (one, other) => Number(LIVE.includes(other.status)) - Number(LIVE.includes(one.status)),
  );
  const shown = isWhole ? ordered : ordered.slice(0, CHILDREN_AT_FIRST);
  return (
    <>
      <span className="soft">{counted(found.length, "child run", "child runs")}</span>
      {shown.map((child) => (
        <span key={child.run}>
          <RunLink run={child.run} />{" "}
          <span className="soft">
            {child.program}, {child.status}
            {child.step !== null && ` (${place(child.step, child.iteration)})`}
          </span>
        </span>
      ))}
      {shown.length < found.length && (
        <button type="button" className="plain" onClick={() => setWhole(true)}>
          {found.length - shown.length} more
        </button>
      )}
    </>
  );
}

/** `store[3]`: a step, and which iteration of it. */
export function place(step: string, iteration: number | null): string {
  return iteration === null ? step : `${step}[${iteration}]`;
}
