// Asks before one action on many runs, with their number; then does it, shows how far it is, and
// can be stopped.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import type { BulkAction } from "../../../api/types";
import { CommandLines } from "../../../parts/Commands";
import { Dialog } from "../../../parts/Dialog";
import { Failure, Loading } from "../../../parts/Notice";
import { counted } from "../../../words/time";
import { bulkCommand, previewed, RUNS_EACH_MAX, type Meant, type Preview } from "./bulk";
import { Doing } from "./Doing";
import { useWork } from "./useWork";
import { ACTIONS, willSay } from "./words";
import "./bulk.css";

const REASON_CHARACTERS_MAX = 200;
let dialogs = 0;

interface BulkDialogProps {
  action: BulkAction;
  meant: Meant;
  onClose: () => void;
}

export function BulkDialog({ action, meant, onClose }: BulkDialogProps): ReactNode {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const work = useWork();
  // Whoever opens it again gets a new count.
  const [opened] = useState(() => ++dialogs);
  const preview = useQuery({
    queryKey: ["bulk", opened, action, meant],
    queryFn: () => previewed(action, meant),
    // What was counted and read is what is agreed to.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const close = (): void => {
    work.stop();
    if (work.progress !== null) {
      void client.invalidateQueries({ queryKey: ["runs"] });
      void client.invalidateQueries({ queryKey: ["failures"] });
    }
    onClose();
  };
  const title = "filter" in meant ? "every run that matches" : counted(meant.runs.length, "run");
  return (
    <Dialog title={`${ACTIONS[action].verb}: ${title}`} onClose={close}>
      {preview.isPending && <Loading what="how many runs this is about" />}
      {preview.error && <Failure error={preview.error} />}
      {!preview.data && <Closing onClose={close} />}
      {preview.data && work.progress === null && (
        <Asking
          action={action}
          meant={meant}
          preview={preview.data}
          reason={reason}
          onReason={setReason}
          onStart={() => work.start(action, meant, reason)}
          onClose={close}
        />
      )}
      {preview.data && work.progress !== null && (
        <Doing
          action={action}
          work={work}
          progress={work.progress}
          count={preview.data.count}
          onClose={close}
        />
      )}
    </Dialog>
  );
}

function Closing({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <div className="row">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}

interface AskingProps {
  action: BulkAction;
  meant: Meant;
  preview: Preview;
  reason: string;
  onReason: (reason: string) => void;
  onStart: () => void;
  onClose: () => void;
}

function Asking(props: AskingProps): ReactNode {
  const { action, meant, preview, reason } = props;
  const said = ACTIONS[action];
  const canStart = preview.able > 0;
  return (
    <>
      <p role="status">{willSay(action, preview, "filter" in meant)}</p>
      {canStart && action === "retry" && (
        <p className="soft small">
          Each continues as a new run, and stays as it is. One that somebody retries meanwhile is
          left alone, and the page names it.
        </p>
      )}
      {canStart && (action === "cancel" || action === "pause") && (
        <label className="field">
          Reason (kept in the log of each run)
          <input
            value={reason}
            maxLength={REASON_CHARACTERS_MAX}
            onChange={(event) => props.onReason(event.target.value)}
          />
        </label>
      )}
      {canStart && (
        <div className="bulk-commands">
          <CommandLines command={bulkCommand(action, meant, reason)} />
          {preview.count > RUNS_EACH_MAX && (
            <p className="soft small">
              One request changes {RUNS_EACH_MAX} runs at most. It answers with <code>next</code>:
              send the same again with that as <code>before</code>, until it is null.
            </p>
          )}
        </div>
      )}
      <div className="row">
        {canStart && (
          <button type="button" className={said.isHarm ? "harm" : "main"} onClick={props.onStart}>
            {said.verb} {said.verb === "Skip waits" ? "of " : ""}
            {counted(preview.able, "run")}
          </button>
        )}
        <button type="button" onClick={props.onClose}>
          {canStart ? "Do nothing" : "Close"}
        </button>
      </div>
    </>
  );
}
