// The scatter for whoever cannot see it: what is in it, and its points one after the other.

import type { RunPoint } from "../../../api/types";
import { STATES } from "../../../words/states";
import { counted, duration, moment } from "../../../words/time";
import { STATE_ORDER } from "../filter";
import type { Plot } from "./placing";

const STEPS: { [key: string]: number } = {
  ArrowRight: 1,
  ArrowLeft: -1,
  PageDown: 20,
  PageUp: -20,
  Home: -Infinity,
  End: Infinity,
};

/** Which point a key goes to, from one or from none; null for a key that goes nowhere. */
export function stepped(key: string, from: number, last: number): number | null {
  const by = STEPS[key];
  if (by === undefined || last < 0) return null;
  if (from < 0) return by > 0 && by < Infinity ? 0 : by === -Infinity ? 0 : last;
  return Math.min(Math.max(from + by, 0), last);
}

/** Which run a point is. */
export function pointText([run, at, seconds, state]: RunPoint): string {
  return `run ${run}, ${STATES[state].word}, started ${moment(at)}, ${duration(seconds)}`;
}

/** What is to be seen. */
export function summary(plot: Plot, isCut: boolean): string {
  const parts = STATE_ORDER.filter((state) => plot.counts.has(state)).map(
    (state) => `${plot.counts.get(state)} ${STATES[state].word}`,
  );
  const which = isCut ? "the newest " : "";
  const runs = `${which}${counted(plot.points.length, "run")}`;
  return `Start and duration of ${runs}: ${parts.join(", ")}. The table below lists them.`;
}
