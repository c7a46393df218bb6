// Cancel, pause or resume the run.

import { useState, type ReactNode } from "react";

import type { Changed, RunPicture } from "../../../api/types";
import { option } from "../../../parts/Commands";
import { runPath } from "../useRun";
import { ActionDialog } from "./ActionDialog";
import { LogField } from "./LogField";

export type Change = "cancel" | "pause" | "resume";

interface Words {
  title: string;
  confirm: string;
  will: string;
  done: string;
}

const WORDS: { [change in Change]: Words } = {
  cancel: {
    title: "Cancel this run",
    confirm: "Cancel the run",
    will: "Running calls are stopped, nothing more starts, and its child runs end too. A cancelled run cannot continue; a fork of it can.",
    done: "The run was cancelled.",
  },
  pause: {
    title: "Pause this run",
    confirm: "Pause the run",
    will: "Running calls may end. Nothing more starts until the run is resumed.",
    done: "The run is paused.",
  },
  resume: {
    title: "Resume this run",
    confirm: "Resume the run",
    will: "What was held starts again. Waits that ran out in the meantime are over at once.",
    done: "The run continues.",
  },
};

interface ReasonDialogProps {
  change: Change;
  picture: RunPicture;
  onDone: (said: ReactNode) => void;
  onClose: () => void;
}

export function ReasonDialog({ change, picture, onDone, onClose }: ReasonDialogProps): ReactNode {
  const [reason, setReason] = useState("");
  const words = WORDS[change];
  const takesReason = change !== "resume";
  const given = takesReason && reason.trim() ? reason.trim() : null;
  const command = {
    cli: [change, picture.run, ...(given === null ? [] : option("--reason", given))],
    method: "POST",
    path: `${runPath(picture.run)}/${change}`,
    body: given === null ? {} : { reason: given },
  } as const;
  return (
    <ActionDialog<Changed>
      title={words.title}
      command={command}
      confirm={words.confirm}
      isHarm={change === "cancel"}
      onClose={onClose}
      onDone={({ changed, status }) =>
        onDone(changed ? words.done : `Nothing was left to change: the run is ${status}.`)
      }
    >
      <p>{words.will}</p>
      {takesReason && <LogField label="Why, for the log" value={reason} onChange={setReason} />}
    </ActionDialog>
  );
}
