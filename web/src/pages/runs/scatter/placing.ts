// Every point of the scatter with its place, and which is nearest to a place.

import type { RunPoint, State } from "../../../api/types";
import { GLYPHS } from "./glyphs";
import { logarithm, placed, spanOf, type Span } from "./scales";

export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Placed {
  x: number;
  y: number;
  point: RunPoint;
}

export interface Plot {
  /** Oldest first. */
  points: readonly Placed[];
  times: Span;
  lengths: Span;
  /** One path for all points of a state: a thousand points are no more work than one. */
  paths: readonly (readonly [State, string])[];
  counts: ReadonlyMap<State, number>;
}

export function plotted(points: readonly RunPoint[], frame: Frame): Plot {
  const times = spanOf(
    points.map(([, at]) => Date.parse(at)),
    10_000,
  );
  const lengths = spanOf(
    points.map(([, , seconds]) => logarithm(seconds)),
    1.2,
  );
  const all = points.map((point) => ({
    x: placed(Date.parse(point[1]), times, frame.left, frame.width - frame.right),
    y: placed(logarithm(point[2]), lengths, frame.height - frame.bottom, frame.top),
    point,
  }));
  all.sort((one, other) => one.x - other.x);
  const pieces = new Map<State, string[]>();
  for (const { x, y, point } of all) {
    const state = point[3];
    const known = pieces.get(state) ?? [];
    if (known.length === 0) pieces.set(state, known);
    known.push(GLYPHS[state](x, y));
  }
  const paths = [...pieces].map(([state, list]) => [state, list.join("")] as const);
  const counts = new Map([...pieces].map(([state, list]) => [state, list.length]));
  return { points: all, times, lengths, paths, counts };
}

/** Which point is within `reach` of a place, and nearest; -1 for none. */
export function nearest(points: readonly Placed[], x: number, y: number, reach: number): number {
  let found = -1;
  let best = reach * reach;
  points.forEach((one, index) => {
    const far = (one.x - x) ** 2 + (one.y - y) ** 2;
    if (far > best) return;
    best = far;
    found = index;
  });
  return found;
}
