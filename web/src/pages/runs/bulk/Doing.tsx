// How far a bulk action is, which runs refused it, and which had been retried already.

import type { ReactNode } from "react";

import type { BulkAction, BulkRefused } from "../../../api/types";
import { Failure, Notice } from "../../../parts/Notice";
import { Link } from "../../../router";
import { counted } from "../../../words/time";
import type { Progress } from "./bulk";
import { sorted, type Repeat } from "./refusals";
import type { Work } from "./useWork";
import { doneSay } from "./words";

// The rest is counted: nobody reads further.
const LINES_SHOWN_MAX = 100;

interface DoingProps {
  action: BulkAction;
  work: Work;
  progress: Progress;
  count: number;
  onClose: () => void;
}

export function Doing({ action, work, progress, count, onClose }: DoingProps): ReactNode {
  const isOver = progress.left.length === 0;
  const { refusals, repeats } = sorted(progress.refused);
  const tone = refusals.length > 0 || !isOver ? "late" : repeats.length > 0 ? "calm" : "good";
  const summary = doneSay(action, progress.changed, repeats.length, refusals.length);
  return (
    <>
      {work.isWorking ? (
        <label className="field">
          {progress.looked.toLocaleString("en")} of {count.toLocaleString("en")} looked at:{" "}
          {summary}
          <progress value={progress.looked} max={Math.max(count, progress.looked, 1)} />
        </label>
      ) : (
        <Notice tone={tone}>
          {isOver ? "Finished" : "Stopped before the end"}: {summary}.
        </Notice>
      )}
      {work.error !== null && <Failure error={work.error} />}
      <Refusals refusals={refusals} />
      <Repeats repeats={repeats} />
      <div className="row">
        {work.isWorking && (
          <button type="button" onClick={work.stop}>
            Stop
          </button>
        )}
        {!work.isWorking && !isOver && (
          <button type="button" className="main" onClick={work.goOn}>
            Continue
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

function Refusals({ refusals }: { refusals: readonly BulkRefused[] }): ReactNode {
  return (
    <Lines name="Refused" count={refusals.length} rest="more refusal">
      {refusals.slice(0, LINES_SHOWN_MAX).map((one) => (
        <li key={one.run}>
          <RunLink run={one.run} /> {one.detail}
        </li>
      ))}
    </Lines>
  );
}

function Repeats({ repeats }: { repeats: readonly Repeat[] }): ReactNode {
  return (
    <Lines name="Retried before" count={repeats.length} rest="more run">
      {repeats.slice(0, LINES_SHOWN_MAX).map((one) => (
        <li key={one.run}>
          <RunLink run={one.run} /> was retried before: see run <RunLink run={one.retriedAs} />
        </li>
      ))}
    </Lines>
  );
}

function RunLink({ run }: { run: string }): ReactNode {
  return (
    <Link to={`/runs/${run}`} className="mono">
      {run}
    </Link>
  );
}

interface LinesProps {
  name: string;
  count: number;
  rest: string;
  children: ReactNode;
}

function Lines({ name, count, rest, children }: LinesProps): ReactNode {
  if (count === 0) return null;
  const more = count - LINES_SHOWN_MAX;
  return (
    <ul className="bulk-lines" aria-label={name} tabIndex={0}>
      {children}
      {more > 0 && <li>and {counted(more, rest)}</li>}
    </ul>
  );
}
