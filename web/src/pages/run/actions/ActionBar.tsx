// What can be done to the run as it is now.

import { useId, type ReactNode } from "react";

import type { RunPicture, WaitShown } from "../../../api/types";
import { skipWord } from "../Waits";
import { hasEnded } from "../useRun";
import type { Asked } from "./asked";

export const PAST_REASON =
  "What is shown is past: go back to now to act on the run, or fork it here.";

interface ActionBarProps {
  picture: RunPicture;
  /** The event looked at: where a fork would begin. */
  at: number | null;
  onAsk: (asked: Asked) => void;
}

export function ActionBar({ picture, at, onAsk }: ActionBarProps): ReactNode {
  const isOver = hasEnded(picture.status);
  const able = picture.waits.filter((wait) => wait.can_skip);
  const isPaused = picture.status === "paused";
  const reason = useId();
  const isPast = at !== null;
  const held = isPast && { disabled: true, "aria-describedby": reason };
  return (
    <div className="row run-actions" role="toolbar" aria-label="Actions">
      {able.length > 0 && (
        <button
          type="button"
          className={isPaused ? undefined : "main"}
          aria-keyshortcuts="r"
          title="End the wait now (r)"
          {...held}
          onClick={() => onAsk({ act: "skip", wait: null })}
        >
          {skipLabel(able)}
        </button>
      )}
      {!isOver && (
        <button
          type="button"
          className={isPaused ? "main" : undefined}
          aria-keyshortcuts="p"
          title={isPaused ? "Resume it (p)" : "Start nothing more for now (p)"}
          {...held}
          onClick={() => onAsk({ act: isPaused ? "resume" : "pause" })}
        >
          {isPaused ? "Resume" : "Pause"}
        </button>
      )}
      {!isOver && (
        <button type="button" className="harm" {...held} onClick={() => onAsk({ act: "cancel" })}>
          Cancel
        </button>
      )}
      <button
        type="button"
        className={picture.status === "failed" ? "main" : undefined}
        {...held}
        onClick={() => onAsk({ act: "retry", step: null })}
      >
        Retry from …
      </button>
      <button type="button" onClick={() => onAsk({ act: "fork" })}>
        {at === null ? "Fork …" : `Fork at event ${at} …`}
      </button>
      <button
        type="button"
        className="run-keys-button"
        aria-keyshortcuts="?"
        title="Keys (?)"
        aria-label="Keys"
        onClick={() => onAsk({ act: "keys" })}
      >
        ?
      </button>
      {isPast && (
        <p id={reason} className="small soft run-held">
          {PAST_REASON}
        </p>
      )}
    </div>
  );
}

function skipLabel(able: readonly WaitShown[]): string {
  const [first] = able;
  return first !== undefined && able.length === 1 ? skipWord(first) : "Run now …";
}
