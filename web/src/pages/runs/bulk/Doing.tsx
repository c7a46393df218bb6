// How far a bulk action is, and which runs refused it.

import type { ReactNode } from "react";

import type { BulkAction, BulkDone } from "../../../api/types";
import { Failure, Notice } from "../../../parts/Notice";
import { Link } from "../../../router";
import { counted } from "../../../words/time";
import type { Progress } from "./bulk";
import type { Work } from "./useWork";
import { ACTIONS } from "./words";

// The rest is counted: nobody reads further.
const REFUSALS_SHOWN_MAX = 100;

interface DoingProps {
  action: BulkAction;
  work: Work;
  progress: Progress;
  count: number;
  onClose: () => void;
}

export function Doing({ action, work, progress, count, onClose }: DoingProps): ReactNode {
  const isOver = progress.left.length === 0;
  const tone = progress.refused.length > 0 || !isOver ? "late" : "good";
  const told = `${counted(progress.changed, "run")} ${ACTIONS[action].past}`;
  const refused = progress.refused.length ? `, ${counted(progress.refused.length, "refusal")}` : "";
  return (
    <>
      {work.isWorking ? (
        <label className="field">
          {progress.looked.toLocaleString("en")} of {count.toLocaleString("en")} looked at: {told}
          {refused}
          <progress value={progress.looked} max={Math.max(count, progress.looked, 1)} />
        </label>
      ) : (
        <Notice tone={tone}>
          {isOver ? "Finished" : "Stopped before the end"}: {told}
          {refused}.
        </Notice>
      )}
      {work.error !== null && <Failure error={work.error} />}
      <Refusals refused={progress.refused} />
      <div className="row">
        {work.isWorking && (
          <button type="button" onClick={work.stop}>
            Stop
          </button>
        )}
        {!work.isWorking && !isOver && (
          <button type="button" className="main" onClick={work.goOn}>
            Go on
          </button>
        )}
        {!work.isWorking && (
          <button type="button" className={isOver ? "main" : undefined} onClick={onClose}>
            Close
          </button>
        )}
      </div>
    </>
  );
}

function Refusals({ refused }: { refused: BulkDone["refused"] }): ReactNode {
  if (refused.length === 0) return null;
  const more = refused.length - REFUSALS_SHOWN_MAX;
  return (
    <ul className="bulk-refused" aria-label="Refused" tabIndex={0}>
      {refused.slice(0, REFUSALS_SHOWN_MAX).map((one) => (
        <li key={one.run}>
          <Link to={`/runs/${one.run}`} className="mono">
            {one.run}
          </Link>{" "}
          {one.detail}
        </li>
      ))}
      {more > 0 && <li>and {counted(more, "more refusal")}</li>}
    </ul>
  );
}
