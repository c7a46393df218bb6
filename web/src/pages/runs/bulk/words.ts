// A bulk action in words.

import type { BulkAction } from "../../../api/types";
import { counted } from "../../../words/time";
import type { Preview } from "./bulk";

interface Said {
  /** On a button. */
  verb: string;
  /** “This will retry 3 runs.” */
  will: (runs: string) => string;
  /** “88 cannot be retried.” */
  cannot: string;
  /** “3 runs retried.” */
  past: string;
  isHarm: boolean;
}

export const ACTIONS: { [action in BulkAction]: Said } = {
  retry: {
    verb: "Retry",
    will: (runs) => `retry ${runs}`,
    cannot: "cannot be retried as they stand",
    past: "retried",
    isHarm: false,
  },
  cancel: {
    verb: "Cancel",
    will: (runs) => `cancel ${runs}`,
    cannot: "have ended already",
    past: "cancelled",
    isHarm: true,
  },
  pause: {
    verb: "Pause",
    will: (runs) => `pause ${runs}`,
    cannot: "cannot be paused as they stand",
    past: "paused",
    isHarm: false,
  },
  resume: {
    verb: "Resume",
    will: (runs) => `resume ${runs}`,
    cannot: "are not paused",
    past: "resumed",
    isHarm: false,
  },
  skip: {
    verb: "Skip waits",
    will: (runs) => `end the waits of ${runs}`,
    cannot: "wait for no moment",
    past: "sent on",
    isHarm: false,
  },
};

export const ACTION_ORDER: readonly BulkAction[] = ["retry", "skip", "pause", "resume", "cancel"];

/** “This will retry 312 runs (of 400 that match; 88 cannot be retried as they stand).” */
export function willSay(action: BulkAction, { count, able }: Preview, isFilter: boolean): string {
  const said = ACTIONS[action];
  const meant = isFilter ? "that match" : "selected";
  if (count === 0) return isFilter ? "No run matches any more." : "None of these runs is there.";
  if (able === 0) return `Nothing to do: of ${counted(count, "run")} ${meant}, all ${said.cannot}.`;
  const will = `This will ${said.will(counted(able, "run"))}`;
  if (able === count) return isFilter ? `${will}: all that match.` : `${will}.`;
  const rest = (count - able).toLocaleString("en");
  return `${will} (of ${count.toLocaleString("en")} ${meant}; ${rest} ${said.cannot}).`;
}
