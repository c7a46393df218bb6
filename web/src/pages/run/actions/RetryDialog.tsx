// Retry from a step: a new run that keeps what was done before it.

import { useState, type ReactNode } from "react";

import type { RunPicture, StartedRun } from "../../../api/types";
import { Link } from "../../../router";
import { runPath } from "../useRun";
import { ActionDialog } from "./ActionDialog";
import { Foreseen } from "./Foreseen";
import { usePreview } from "./usePreview";

interface RetryDialogProps {
  picture: RunPicture;
  step: string | null;
  onDone: (said: ReactNode) => void;
  onClose: () => void;
}

export function RetryDialog({ picture, step, onDone, onClose }: RetryDialogProps): ReactNode {
  const steps = stepsOf(picture);
  const [from, setFrom] = useState(step ?? picture.failed_step ?? steps.at(-1) ?? "");
  const path = `${runPath(picture.run)}/retry`;
  const body = { step: from };
  const found = usePreview(path, from ? body : null);
  const hasMisfits = (found.data?.misfits.length ?? 0) > 0;
  return (
    <ActionDialog<StartedRun>
      title="Retry from a step"
      command={{ cli: ["retry", picture.run, "--from", from], method: "POST", path, body }}
      confirm="Start the new run"
      isBlocked={!found.isSettled || found.isError || hasMisfits}
      onClose={onClose}
      onDone={(started) => onDone(<RunStarted run={started.run} />)}
    >
      <p>
        A new run begins at the latest visit of a step. What was done before it is not done again;
        this run stays as it is.
      </p>
      <label className="field">
        From step
        <select value={from} onChange={(event) => setFrom(event.target.value)}>
          {steps.map((name) => (
            <option key={name} value={name}>
              {name}
              {name === picture.failed_step && " (it failed)"}
            </option>
          ))}
        </select>
      </label>
      <Foreseen found={found} />
    </ActionDialog>
  );
}

/** Steps that were visited, as the graph has them. */
export function stepsOf(picture: RunPicture): string[] {
  const drawn = picture.graph?.nodes.filter((node) => node.visits > 0).map((node) => node.name);
  return drawn ?? picture.lanes.lanes.map((lane) => lane.step);
}

export function RunStarted({ run }: { run: string }): ReactNode {
  return (
    <>
      Run <Link to={`/runs/${run}`}>{run}</Link> was started.
    </>
  );
}
