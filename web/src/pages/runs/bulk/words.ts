// A bulk action in words.

import type { BulkAction } from "../../../api/types";
import { counted } from "../../../words/time";
import type { Preview } from "./bulk";

interface Said {
  /** On a button. */
  verb: string;
  /** “This will retry 3 runs.” */
  will: (runs: string) => string;
  /** “1 has ended already”, “88 have ended already”. */
  cannot: readonly [one: string, many: string];
  /** “3 runs retried.” */
  past: string;
  isHarm: boolean;
}

export const ACTIONS: { [action in BulkAction]: Said } = {
  retry: {
    verb: "Retry",
    will: (runs) => `retry ${runs}`,
    cannot: ["cannot be retried in its state", "cannot be retried in their state"],
    past: "retried",
    isHarm: false,
  },
  cancel: {
    verb: "Cancel",
    will: (runs) => `cancel ${runs}`,
    cannot: ["has ended already", "have ended already"],
    past: "cancelled",
    isHarm: true,
  },
  pause: {
    verb: "Pause",
    will: (runs) => `pause ${runs}`,
    cannot: ["cannot be paused in its state", "cannot be paused in their state"],
    past: "paused",
    isHarm: false,
  },
  resume: {
    verb: "Resume",
    will: (runs) => `resume ${runs}`,
    cannot: ["is not paused", "are not paused"],
    past: "resumed",
    isHarm: false,
  },
  skip: {
    verb: "Skip waits",
    will: (runs) => `end the waits of ${runs}`,
    cannot: ["waits for no moment", "wait for no moment"],
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
  const [one, many] = said.cannot;
  if (able === 0 && count === 1) return `Nothing to do: the run ${one}.`;
  if (able === 0) return `Nothing to do: of ${counted(count, "run")} ${meant}, all ${many}.`;
  const will = `This will ${said.will(counted(able, "run"))}`;
  if (able === count) return isFilter ? `${will}: all that match.` : `${will}.`;
  const rest = counted(count - able, one, many);
  return `${will} (of ${count.toLocaleString("en")} ${meant}; ${rest}).`;
}

/** “3 runs retried, 2 were retried before and left alone, 1 refusal” */
export function doneSay(
  action: BulkAction,
  changed: number,
  repeats: number,
  refusals: number,
): string {
  const parts = [`${counted(changed, "run")} ${ACTIONS[action].past}`];
  if (repeats > 0) parts.push(`${counted(repeats, "was", "were")} retried before and left alone`);
  if (refusals > 0) parts.push(counted(refusals, "refusal"));
  return parts.join(", ");
}
