// Bars and lanes in words: what a tip shows and what those hear who do not see the chart.

import type { BarKind, LaneShown } from "../api/types";
import { BARS, STEP_STATES } from "../words/states";
import { counted, duration } from "../words/time";
import type { DrawnBar } from "./bars";
import { peakOf } from "./density";

/** The order of the legend. */
export const KINDS: readonly BarKind[] = [
  "ok",
  "error",
  "lost",
  "working",
  "retry",
  "retry_after",
  "jump",
  "poll",
  "queue",
  "sleep",
  "child",
  "person",
  "signal",
];

export function barWords(drawn: DrawnBar): string {
  const { bar, count } = drawn;
  const said = [
    count > 1 ? `${count} × ${BARS[drawn.kind]}` : BARS[drawn.kind],
    bar.task && count === 1 ? `task ${bar.task}` : null,
    bar.attempt !== null && count === 1 ? attemptWords(drawn) : null,
    bar.visit > 1 && count === 1 ? `visit ${bar.visit}` : null,
    `at ${duration(drawn.begin)}`,
    bar.is_open ? `for ${duration(drawn.end - drawn.begin)} so far` : lengthWords(drawn),
  ];
  return said.filter((word) => word !== null).join(", ");
}

function lengthWords(drawn: DrawnBar): string {
  return `for ${duration(drawn.end - drawn.begin)}`;
}

// These end with the attempt; what else one waits for is part of it.
const BEFORE_ATTEMPTS: ReadonlySet<BarKind> = new Set([
  "queue",
  "retry",
  "retry_after",
  "jump",
  "poll",
]);

export function attemptWords({ bar, kind }: DrawnBar): string {
  return BEFORE_ATTEMPTS.has(kind) ? `before attempt ${bar.attempt}` : `attempt ${bar.attempt}`;
}

export function laneWords(lane: LaneShown): string {
  // What is seen comes first, so that it can be said to a computer that listens.
  const said = [
    lane.step,
    loopText(lane),
    counted(lane.attempts, "attempt"),
    STEP_STATES[lane.status].word,
    lane.visits > 1 ? counted(lane.visits, "visit") : null,
  ];
  return said.filter((word) => word !== null).join(", ");
}

export function loopText(lane: LaneShown): string | null {
  if (lane.loop === null) return null;
  const { done, failed, total } = lane.loop;
  const counts = `${done.toLocaleString("en")} / ${total.toLocaleString("en")}`;
  return failed ? `${counts} · ${failed.toLocaleString("en")} failed` : counts;
}

export function densityWords(lane: LaneShown): string {
  if (lane.density === null) return "";
  const errors = lane.density.errors.reduce((sum, count) => sum + count, 0);
  const peak = Math.round(peakOf(lane.density) * 10) / 10;
  return `${counted(lane.attempts, "attempt")}, up to ${peak} at once, ${counted(errors, "error")}`;
}
