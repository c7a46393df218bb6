// The families of events, and how an event is seen at a glance: the shape is its family's, the tone
// says what it means for the run.

import type { EventRow, Json } from "../../../api/types";
import type { Tone } from "../../../words/states";

export const FAMILIES = [
  "run",
  "step",
  "task",
  "loop",
  "next",
  "gate",
  "branch",
  "human",
  "signal",
  "wait",
] as const;

export type Family = (typeof FAMILIES)[number];

/** Null: an event of a family that this page does not know. */
export function familyOf(name: string): Family | null {
  const word = name.split(".", 1)[0];
  return FAMILIES.find((family) => family === word) ?? null;
}

const TONES: { [name: string]: Tone } = {
  "run.started": "busy",
  "run.done": "good",
  "run.failed": "bad",
  "run.cancelled": "cut",
  "step.done": "good",
  "step.refused": "cut",
  "step.skipped": "cut",
  "step.redelivered": "late",
  "task.started": "busy",
  "task.retry_scheduled": "late",
  "task.retry_exhausted": "bad",
  "loop.iteration.failed": "bad",
  "loop.done": "good",
  "human.waiting": "ask",
  "human.answered": "good",
  "human.timed_out": "bad",
  "signal.waiting": "ask",
  "signal.received": "good",
  "signal.timed_out": "bad",
  "wait.skipped": "busy",
};

export function toneOf({ name, data }: EventRow): Tone {
  if (name === "task.processed") {
    return statusOf(data["outcome"]) === "error" ? "bad" : "good";
  }
  // A failure that an arc takes is no end.
  if (name === "step.failed") return data["handled"] === true ? "late" : "bad";
  if (data["error"] !== undefined && data["error"] !== null) return "bad";
  return TONES[name] ?? "calm";
}

/** Of an outcome, which an older or a newer engine may have written otherwise. */
function statusOf(outcome: Json | undefined): Json | undefined {
  const isObject = outcome !== null && typeof outcome === "object" && !Array.isArray(outcome);
  return isObject ? outcome["status"] : undefined;
}
