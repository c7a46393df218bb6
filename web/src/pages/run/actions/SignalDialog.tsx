// Send a signal that the run waits for.

import { useState, type ReactNode } from "react";

import type { AwaitedRow, Json } from "../../../api/types";
import { runPath } from "../useRun";
import { ActionDialog } from "./ActionDialog";

interface SignalDialogProps {
  signal: AwaitedRow;
  onDone: (said: ReactNode) => void;
  onClose: () => void;
}

interface SignalTaken {
  accepted: boolean;
}

export function SignalDialog({ signal: awaited, onDone, onClose }: SignalDialogProps): ReactNode {
  const { run, signal } = awaited;
  const [text, setText] = useState("");
  const payload = valueOf(text);
  const body = payload ?? { value: null };
  const words = text.trim() ? ["--payload", JSON.stringify(body.value)] : [];
  return (
    <ActionDialog<SignalTaken>
      title={`Send the signal ${signal}`}
      command={{
        cli: ["signal", run, signal, ...words],
        method: "POST",
        path: `${runPath(run)}/signals/${encodeURIComponent(signal)}`,
        body: body.value,
      }}
      confirm="Send the signal"
      isBlocked={payload === null}
      onClose={onClose}
      onDone={() => onDone(`The signal ${signal} was sent.`)}
    >
      <p>Step {awaited.step} continues with it, and has what it carries as its result.</p>
      <label className="field">
        What it carries: JSON, or nothing
        <textarea
          rows={4}
          spellCheck={false}
          className="mono"
          value={text}
          aria-invalid={payload === null}
          onChange={(event) => setText(event.target.value)}
        />
        {payload === null && <span className="run-wrong">This is not valid JSON yet.</span>}
      </label>
    </ActionDialog>
  );
}

function valueOf(text: string): { value: Json } | null {
  if (text.trim() === "") return { value: null };
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}
