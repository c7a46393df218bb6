// The shape of each state in the scatter, small enough for thousands: as a piece of an SVG path.

import type { State } from "../../../api/types";

type Glyph = (x: number, y: number) => string;

const R = 3.6;

function disc(r: number): Glyph {
  return (x, y) => `M${p(x - r)} ${p(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

function drawn(path: string): Glyph {
  return (x, y) => `M${p(x)} ${p(y)}${path}`;
}

function p(value: number): string {
  return value.toFixed(1);
}

export const GLYPHS: { [state in State]: Glyph } = {
  done: disc(3),
  failed: drawn("m-3.2 -3.2l6.4 6.4m0 -6.4l-6.4 6.4"),
  dead: drawn("m-3.4 -3.4h6.8v6.8h-6.8Zm1.2 1.2l4.4 4.4m0 -4.4l-4.4 4.4"),
  running: drawn(`m-2.8 -${R}l6.4 ${R}l-6.4 ${R}Z`),
  retrying: drawn(`m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6Z`),
  person: drawn("m0 -4.4l4.4 7.6h-8.8Z"),
  signal: drawn("m0 4.4l4.4 -7.6h-8.8Z"),
  parked: drawn(`m-${R} 0a${R} ${R} 0 1 0 ${2 * R} 0Z`),
  waiting: disc(R),
  queued: disc(1.6),
  paused: drawn("m-2 -3.6v7.2m4 -7.2v7.2"),
  cancelled: drawn("m-3.2 3.2l6.4 -6.4"),
};

/** Shapes that are filled; the others are lines. */
export const FILLED: ReadonlySet<State> = new Set([
  "done",
  "running",
  "person",
  "signal",
  "parked",
  "queued",
]);
