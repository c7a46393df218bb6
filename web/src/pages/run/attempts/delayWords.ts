// What became of a delay, beside the sum that the server shows.

import type { AttemptShown } from "../../../api/types";
import { duration } from "../../../words/time";

/** `2 s`, `0.42 s`, `1.462 s`. */
export function exactSeconds(seconds: number): string {
  return `${Number(seconds.toFixed(3))} s`;
}

/** `skipped by ann, 51 min 55 s early`: nobody waited for what was delayed. */
export function skippedWords({ skipped }: AttemptShown): string | null {
  if (skipped === null) return null;
  const who = skipped.by === null ? "skipped" : `skipped by ${skipped.by}`;
  return skipped.early_seconds === null ? who : `${who}, ${duration(skipped.early_seconds)} early`;
}

/** Why there is no further attempt, where a retry rule would have had one. */
export function exhaustedWords({ exhausted, attempt, attempts_max: most }: AttemptShown) {
  if (exhausted === null) return null;
  if (exhausted === "max_elapsed") return "the time for retries (max_elapsed) is spent";
  if (exhausted !== "attempts") return `no retry: ${exhausted}`;
  return `no attempt left (${attempt} of ${most ?? attempt})`;
}
