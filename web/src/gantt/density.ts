// A lane with too many bars, as areas: how many were at work, how many waited, where errors were.

import type { DensityShown } from "../api/types";
import { pixelOf, type Scale } from "./scale";

export interface DensityDrawn {
  working: string;
  /** On top of those at work. */
  waiting: string;
  errors: { x: number; width: number; height: number }[];
}

export interface Slice {
  begin: number;
  end: number;
  working: number;
  waiting: number;
  errors: number;
}

const ERROR_PIXELS_MIN = 3;

/** The most that were at work or waited at once. */
export function peakOf(density: DensityShown): number {
  return density.working.reduce(
    (most, count, at) => Math.max(most, count + (density.waiting[at] ?? 0)),
    0,
  );
}

export function sliceAt(density: DensityShown, seconds: number): Slice | null {
  const at = Math.floor(seconds / density.seconds);
  const working = density.working[at];
  if (working === undefined) return null;
  return {
    begin: at * density.seconds,
    end: (at + 1) * density.seconds,
    working,
    waiting: density.waiting[at] ?? 0,
    errors: density.errors[at] ?? 0,
  };
}

export function densityDrawn(density: DensityShown, scale: Scale, height: number): DensityDrawn {
  const peak = Math.max(peakOf(density), 1e-9);
  const errorsMost = Math.max(...density.errors, 1);
  const up = (count: number): number => height - (count / peak) * height;
  const edges = density.working.map((_, at) => pixelOf(scale, at * density.seconds));
  edges.push(pixelOf(scale, density.working.length * density.seconds));
  const sum = density.working.map((count, at) => count + (density.waiting[at] ?? 0));
  const errors = density.errors.flatMap((count, at) => {
    const [x = 0, right = 0] = [edges[at], edges[at + 1]];
    if (count === 0 || right < 0 || x > scale.width) return [];
    const tall = Math.max(ERROR_PIXELS_MIN, (count / errorsMost) * height * 0.6);
    return { x, width: Math.max(1.5, right - x), height: tall };
  });
  return {
    working: stairs(edges, density.working.map(up), height),
    waiting: stairs(edges, sum.map(up), height),
    errors,
  };
}

function stairs(edges: readonly number[], tops: readonly number[], floor: number): string {
  const round = (value: number): number => Number(value.toFixed(1));
  const pieces = [`M${round(edges[0] ?? 0)} ${floor}`];
  tops.forEach((top, at) => pieces.push(`V${round(top)}H${round(edges[at + 1] ?? 0)}`));
  return `${pieces.join("")}V${floor}Z`;
}
