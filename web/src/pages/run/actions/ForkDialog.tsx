// Fork: a new run that shares the log up to an event, with another workload or another document.

import { useState, type ReactNode } from "react";

import type { RunPicture, StartedRun } from "../../../api/types";
import { JsonView } from "../../../parts/JsonView";
import { hasEnded, runPath } from "../useRun";
import { ActionDialog } from "./ActionDialog";
import { CutChoice, type Cut } from "./CutChoice";
import { bodyOf, cliOf, firstCut, objectOf, OWN, type DocumentChosen } from "./forkWords";
import { Foreseen } from "./Foreseen";
import { OtherDocument } from "./OtherDocument";
import { RunStarted } from "./RetryDialog";
import { usePreview } from "./usePreview";

interface ForkDialogProps {
  picture: RunPicture;
  /** The last event to share, at first; null: where it makes sense. */
  at: number | null;
  onDone: (said: ReactNode) => void;
  onClose: () => void;
}

export function ForkDialog({ picture, at: first, onDone, onClose }: ForkDialogProps): ReactNode {
  const [cut, setCut] = useState<Cut>(
    first === null ? firstCut(picture) : { at: first, step: null },
  );
  const [workload, setWorkload] = useState("");
  const [chosen, setChosen] = useState<DocumentChosen>(OWN);
  const [cancels, setCancels] = useState(false);
  const path = `${runPath(picture.run)}/fork`;
  const changes = objectOf(workload);
  const wanted = {
    ...cut,
    changes: changes ?? {},
    chosen,
    cancels,
  };
  const isFit = changes !== null && (wanted.at ?? 1) >= 1 && (wanted.at ?? 1) <= picture.events;
  const body = bodyOf(picture.program, wanted);
  const found = usePreview(path, isFit ? { ...body, cancel: false } : null);
  const hasMisfits = (found.data?.misfits.length ?? 0) > 0;
  return (
    <ActionDialog<StartedRun>
      title="Fork this run"
      command={{ cli: cliOf(picture, wanted), method: "POST", path, body }}
      confirm="Start the new run"
      isBlocked={!isFit || !found.isSettled || found.isError || hasMisfits}
      onClose={onClose}
      onDone={(started) => onDone(<RunStarted run={started.run} />)}
    >
      <CutChoice picture={picture} cut={cut} onChange={setCut} />
      <label className="field">
        Changes to the input: a JSON object, laid over it
        <textarea
          rows={3}
          spellCheck={false}
          className="mono"
          placeholder='{"base_url": "https://…"}'
          value={workload}
          aria-invalid={changes === null}
          onChange={(event) => setWorkload(event.target.value)}
        />
        {changes === null && <span className="run-wrong">This is not valid JSON object yet.</span>}
      </label>
      <details className="small">
        <summary>The input of this run</summary>
        <JsonView value={picture.workload} />
      </details>
      <OtherDocument picture={picture} chosen={chosen} onChange={setChosen} />
      {!hasEnded(picture.status) && (
        <label className="row">
          <input
            type="checkbox"
            checked={cancels}
            onChange={(event) => setCancels(event.target.checked)}
          />
          Cancel this run once the new one is there
        </label>
      )}
      {isFit && <Foreseen found={found} />}
    </ActionDialog>
  );
}
