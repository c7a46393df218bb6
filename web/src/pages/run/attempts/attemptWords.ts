// An attempt in words: which it is, how it came out, what was decided.

import type { AttemptShown, RuleShown } from "../../../api/types";
import type { Look } from "../../../words/states";

const LOOKS: { [status in AttemptShown["status"]]: Look } = {
  ok: { word: "ok", tone: "good", shape: "tick" },
  error: { word: "error", tone: "bad", shape: "cross" },
  working: { word: "running", tone: "busy", shape: "play" },
  lost: { word: "worker lost", tone: "late", shape: "skull" },
  cancelled: { word: "cancelled", tone: "cut", shape: "slash" },
};

// What a task of these kinds does while it is at work.
const WAITING: { [kind: string]: Look } = {
  human: { word: "asks a person", tone: "ask", shape: "person" },
  wait: { word: "waits for a signal", tone: "ask", shape: "signal" },
  sleep: { word: "sleeps", tone: "calm", shape: "moon" },
};

export const STATUSES = Object.entries(LOOKS).map(([status, look]) => [status, look.word] as const);

export function lookOf({ status, kind }: AttemptShown): Look {
  const waiting = status === "working" && kind !== null ? WAITING[kind] : undefined;
  return waiting ?? LOOKS[status];
}

/** `ok`, `rate_limit · HTTP 429`. */
export function outcomeWord(attempt: AttemptShown): string {
  const kind = attempt.error?.["kind"];
  const word = attempt.status === "error" && typeof kind === "string" ? kind : lookOf(attempt).word;
  return attempt.http_status === null ? word : `${word} · HTTP ${attempt.http_status}`;
}

/** `4 of 8`. */
export function numberWords({ attempt, attempts_max: most }: AttemptShown): string {
  return most === null ? String(attempt) : `${attempt} of ${most}`;
}

/** `visit 2, item 3`: where the same task of the same step is told apart. */
export function placeWords({ visit, iteration }: AttemptShown): string {
  const parts = [visit > 1 ? `visit ${visit}` : "", iteration === null ? "" : `[${iteration}]`];
  return parts.filter(Boolean).join(" ");
}

/** `fetch.page attempt 4 of 8`. */
export function attemptName(attempt: AttemptShown): string {
  const place = placeWords(attempt);
  return `${taskWords(attempt)}${place && ` ${place}`}, attempt ${numberWords(attempt)}`;
}

/** `fetch.page`; a task that has the name of its step is shown once. */
export function taskWords({ step, task }: AttemptShown): string {
  return task === step || task === "" ? step : `${step}.${task}`;
}

/** `rule 2`, or the author's word for it. */
export function ruleWords(rule: RuleShown): string {
  return rule.name === null ? `rule ${rule.number}` : rule.name;
}

/** `retry`, `jump to poll`. */
export function directiveWords({ directive, to }: AttemptShown): string {
  if (directive === null) return "";
  return to === null ? directive : `${directive} to ${to}`;
}

export function messageOf(attempt: AttemptShown): string {
  const message = attempt.error?.["message"];
  return typeof message === "string" ? message : "";
}
