// The bars of a lane as they are drawn: those in sight, and one for many that share a pixel.

import type { BarKind, BarShown, LaneShown } from "../api/types";
import { pixelOf, type Scale } from "./scale";

export interface DrawnBar {
  x: number;
  width: number;
  kind: BarKind;
  /** The first of those it stands for. */
  bar: BarShown;
  count: number;
  /** Seconds, of all it stands for. */
  begin: number;
  end: number;
}

const WORK: ReadonlySet<BarKind> = new Set(["ok", "error", "lost", "working"]);
// What is narrower cannot be told from its neighbour.
const NARROW_PIXELS = 1.5;
const WORK_PIXELS_MIN = 3;
const WAIT_PIXELS_MIN = 1.5;

export function isWork(kind: BarKind): boolean {
  return WORK.has(kind);
}

/** `end` is the moment up to which open bars reach. */
export function drawnBars(bars: readonly BarShown[], scale: Scale, end: number): DrawnBar[] {
  const drawn: DrawnBar[] = [];
  for (const bar of bars) {
    const until = bar.is_open ? Math.max(bar.begin, end) : bar.end;
    if (until < scale.span.from || bar.begin > scale.span.to) continue;
    const x = Math.max(-2, pixelOf(scale, bar.begin));
    const right = Math.min(scale.width + 2, pixelOf(scale, until));
    const last = drawn.at(-1);
    const isNarrow = right - x < NARROW_PIXELS && !bar.is_open;
    const isShared = isNarrow && last?.kind === bar.kind && x - (last.x + last.width) < 1;
    if (isShared && (last.count > 1 || last.width < NARROW_PIXELS)) {
      last.width = right - last.x;
      last.end = Math.max(last.end, until);
      last.count += 1;
    } else {
      drawn.push({
        x,
        width: right - x,
        kind: bar.kind,
        bar,
        count: 1,
        begin: bar.begin,
        end: until,
      });
    }
  }
  for (const one of drawn) {
    one.width = Math.max(one.width, isWork(one.kind) ? WORK_PIXELS_MIN : WAIT_PIXELS_MIN);
    // What ends with the run is not drawn behind its end.
    one.x = Math.min(one.x, scale.width - WORK_PIXELS_MIN);
  }
  drawn.forEach((one, at) => makeWay(one, drawn[at - 1]));
  return drawn;
}

/** A wait begins beside a short attempt before it, not over it. */
function makeWay(one: DrawnBar, before: DrawnBar | undefined): void {
  if (before === undefined || isWork(one.kind) || !isWork(before.kind)) return;
  const over = before.x + before.width - one.x;
  if (over <= 0 || over >= one.width) return;
  one.x += over;
  one.width -= over;
}

/** The kinds that occur, in the order in which a legend lists them. */
export function kindsPresent(lanes: readonly LaneShown[], order: readonly BarKind[]): BarKind[] {
  const present = new Set<BarKind>();
  for (const lane of lanes) for (const bar of lane.bars) present.add(bar.kind);
  return order.filter((kind) => present.has(kind));
}
