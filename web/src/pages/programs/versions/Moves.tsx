// Runs that began under another version: those that could go on under this one, and why others
// cannot. To move one is to fork it where it stands, and to cancel the old run.

import { useState, type ReactNode } from "react";

import type { MisfitRow, RunMoves, StartedRun, RunText } from "../../../api/types";
import { Notice } from "../../../parts/Notice";
import { Link } from "../../../router";
import { counted } from "../../../words/time";
import { ActionDialog } from "../../run/actions/ActionDialog";
import { Foreseen } from "../../run/actions/Foreseen";
import { usePreview } from "../../run/actions/usePreview";
import "../../run/run.css";
import { runPath } from "../../run/useRun";

interface MovesProps {
  name: string;
  version: number;
  moves: RunMoves;
}

export function Moves({ name, version, moves }: MovesProps): ReactNode {
  const [asked, setAsked] = useState<RunText | null>(null);
  const [moved, setMoved] = useState<{ [run: RunText]: RunText }>({});
  return (
    <section className="stack" aria-label={`Runs that could move to version ${version}`}>
      <h2>
        {counted(moves.movable.length, "open run")} could move to version {version}
        {moves.stuck.length > 0 && `, ${counted(moves.stuck.length, "cannot", "cannot")}`}
      </h2>
      {moves.has_more && <Notice tone="calm">There are more runs than were looked at.</Notice>}
      <ul className="programs-moves">
        {moves.movable.map((run) => (
          <li key={run} className="row">
            <Link to={`/runs/${run}`}>{run}</Link>
            {moved[run] === undefined ? (
              <button type="button" className="small" onClick={() => setAsked(run)}>
                Move to version {version} …
              </button>
            ) : (
              <span>
                continues as <Link to={`/runs/${moved[run]}`}>{moved[run]}</Link>
              </span>
            )}
          </li>
        ))}
        {moves.stuck.map(({ run, reasons }) => (
          <li key={run}>
            <Link to={`/runs/${run}`}>{run}</Link> cannot move: {reasons.map(misfitText).join("; ")}
          </li>
        ))}
      </ul>
      {asked !== null && (
        <MoveDialog
          {...{ name, version }}
          run={asked}
          onDone={(started) => {
            setMoved({ ...moved, [asked]: started });
            setAsked(null);
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  );
}

export function misfitText(reason: MisfitRow): string {
  return reason.line === null ? reason.message : `line ${reason.line}: ${reason.message}`;
}

interface MoveDialogProps {
  name: string;
  version: number;
  run: RunText;
  onDone: (started: RunText) => void;
  onClose: () => void;
}

function MoveDialog({ name, version, run, onDone, onClose }: MoveDialogProps): ReactNode {
  const path = `${runPath(run)}/fork`;
  const found = usePreview(path, { program: name, version });
  const isFit = found.isSettled && !found.isError && found.data?.misfits.length === 0;
  return (
    <ActionDialog<StartedRun>
      title={`Move run ${run} to version ${version}`}
      command={{
        cli: ["fork", run, "--program", `${name}@${version}`, "--cancel"],
        method: "POST",
        path,
        body: { program: name, version, cancel: true },
      }}
      confirm="Move it"
      isBlocked={!isFit}
      onDone={(started) => onDone(started.run)}
      onClose={onClose}
    >
      <p>
        A new run continues under version {version} where this one stands; this one is cancelled.
      </p>
      <Foreseen found={found} />
    </ActionDialog>
  );
}
