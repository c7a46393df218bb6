// How states are shown: one word, one tone and one shape each.

import type { BarKind, Doing, State, StepStatus } from "../api/types";

export type Tone = "good" | "bad" | "busy" | "late" | "calm" | "ask" | "cut";
export type Shape =
  | "tick"
  | "cross"
  | "play"
  | "again"
  | "person"
  | "signal"
  | "moon"
  | "bars"
  | "dots"
  | "skull"
  | "slash"
  | "clock";

export interface Look {
  word: string;
  tone: Tone;
  shape: Shape;
  /** The word in a sentence, for whoever meets it first. */
  means?: string;
}

export const STATES: { [state in State]: Look & { means: string } } = {
  running: {
    word: "running",
    tone: "busy",
    shape: "play",
    means: "A process is working on it, or can.",
  },
  retrying: {
    word: "retrying",
    tone: "late",
    shape: "again",
    means: "A step waits for its next attempt after a failure, or for the next look of a poll.",
  },
  person: {
    word: "waiting for a person",
    tone: "ask",
    shape: "person",
    means: "A step waits for an answer: see People.",
  },
  signal: {
    word: "waiting for a signal",
    tone: "ask",
    shape: "signal",
    means: "A step waits for a signal from outside.",
  },
  parked: {
    word: "waiting for a timer or child",
    tone: "calm",
    shape: "moon",
    means: "It sleeps, or waits for a child run, and holds no worker.",
  },
  waiting: {
    word: "waiting",
    tone: "calm",
    shape: "clock",
    means: "It waits for something outside.",
  },
  queued: { word: "queued", tone: "calm", shape: "dots", means: "It waits for a worker." },
  paused: {
    word: "paused",
    tone: "calm",
    shape: "bars",
    means: "Somebody paused it: nothing starts until it is resumed.",
  },
  done: { word: "done", tone: "good", shape: "tick", means: "It ended with success." },
  failed: { word: "failed", tone: "bad", shape: "cross", means: "It ended with an error." },
  dead: {
    word: "given up",
    tone: "bad",
    shape: "skull",
    means: "Given up after its workers were lost.",
  },
  cancelled: {
    word: "cancelled",
    tone: "cut",
    shape: "slash",
    means: "Somebody, or the program, ended it before its end.",
  },
};

export const STEP_STATES: { [status in StepStatus]: Look } = {
  scheduled: { word: "scheduled", tone: "calm", shape: "dots" },
  running: { word: "running", tone: "busy", shape: "play" },
  retrying: { word: "retrying", tone: "late", shape: "again" },
  polling: { word: "polling", tone: "calm", shape: "clock" },
  waiting: { word: "waiting", tone: "ask", shape: "clock" },
  done: { word: "done", tone: "good", shape: "tick" },
  failed: { word: "failed", tone: "bad", shape: "cross" },
  skipped: { word: "skipped", tone: "cut", shape: "slash" },
  cancelled: { word: "cancelled", tone: "cut", shape: "slash" },
};

/** What a bar of the Gantt, or a step-run right now, is at. */
export const BARS: { [kind in BarKind]: string } = {
  ok: "attempt that succeeded",
  error: "attempt that failed",
  lost: "attempt that was lost or cancelled",
  working: "attempt running",
  queue: "waiting for a worker",
  retry: "retry delay",
  retry_after: "delay the server asked for",
  jump: "delay of a jump",
  poll: "polling, until the next look",
  sleep: "sleep",
  child: "waiting for a child run",
  person: "waiting for a person",
  signal: "waiting for a signal",
};

export const DOING: { [doing in Doing]: Look } = {
  queued: { word: "waiting for a worker", tone: "calm", shape: "dots" },
  working: { word: "running", tone: "busy", shape: "play" },
  retry: { word: "waits to retry", tone: "late", shape: "again" },
  retry_after: { word: "waits as the server asked", tone: "late", shape: "again" },
  jump: { word: "waits to continue", tone: "late", shape: "clock" },
  poll: { word: "polling, waits for the next look", tone: "calm", shape: "clock" },
  sleep: { word: "sleeps", tone: "calm", shape: "moon" },
  child: { word: "waits for a child run", tone: "calm", shape: "clock" },
  guard: { word: "held by a guard", tone: "calm", shape: "clock" },
  person: { word: "waits for a person", tone: "ask", shape: "person" },
  signal: { word: "waits for a signal", tone: "ask", shape: "signal" },
};
