// A delay as the sum it was: every number of the decision, in the order they were applied. The cap
// holds before the jitter, and once more after what the other side asked for.

import type { AttemptShown, DelayShown } from "../../../api/types";
import { duration } from "../../../words/time";

/** `2 s`, `0.42 s`, `1.462 s`. */
export function exactSeconds(seconds: number): string {
  return `${Number(seconds.toFixed(3))} s`;
}

const JITTERS: { [word: string]: string } = {
  true: "jitter 0.5–1.5",
  full: "jitter 0–1 (full)",
  equal: "jitter 0.5–1 (equal)",
  decorrelated: "decorrelated jitter",
};

/** `["base 2 s (exponential)", "cap 60 s", "jitter 0.5–1.5, drew 0.73 → 2.46 s", …]` */
export function delaySteps(delay: DelayShown): string[] {
  const steps = [base(delay), cap(delay), jitter(delay), wish(delay)];
  return steps.filter((step) => step !== null);
}

function base({ backoff, base_seconds: seconds, jitter: word }: DelayShown): string | null {
  if (word === "decorrelated") return null;
  return backoff === "none" ? "no backoff" : `base ${exactSeconds(seconds)} (${backoff})`;
}

function cap({ base_seconds: seconds, cap_seconds: most, jitter: word }: DelayShown) {
  if (most === null) return null;
  const isOver = seconds > most && word !== "decorrelated";
  return isOver ? `cap ${exactSeconds(most)} → ${exactSeconds(most)}` : `cap ${exactSeconds(most)}`;
}

function jitter({ jitter: word, draw, spread_seconds: seconds }: DelayShown): string | null {
  if (draw === null) return null;
  const name = typeof word === "number" ? `jitter 1–${1 + word}` : (JITTERS[word] ?? word);
  return `${name}, drew ${Number(draw.toFixed(3))} → ${exactSeconds(seconds)}`;
}

function wish(delay: DelayShown): string | null {
  const { retry_after_seconds: asked, spread_seconds: own, delay_seconds: seconds } = delay;
  if (asked === null) return null;
  if (asked === 0) return "no Retry-After";
  if (asked <= own) return `Retry-After ${exactSeconds(asked)}, no longer`;
  const end =
    seconds < asked ? `, capped → ${exactSeconds(seconds)}` : ` → ${exactSeconds(seconds)}`;
  return `Retry-After ${exactSeconds(asked)}${end}`;
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
