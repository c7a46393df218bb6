// The lines of arcs through a layout: from the side of one step to the side of another, straight
// past every layer and bent only between layers, so that no line crosses a step.

import type { Place, Point } from "./layout";
import { isBackward, middle, portsOf, type Places } from "./ports";

export interface Route {
  /** An SVG path, without its arrow. */
  path: string;
  arrow: string;
  label: Point;
  /** It leads up, to a step that comes before. */
  isBack: boolean;
}

export interface PassageLine {
  source: string;
  target: string;
  /** From border to border, with one point in each layer between. */
  points: Point[];
  label: Point;
  labelWidth: number;
  labelHeight: number;
}

interface Band {
  centre: number;
  top: number;
  bottom: number;
}

const ARROW_LENGTH = 8;
const ARROW_HALF = 4.5;
const SAME_LAYER = 1;
export const LOOP_REACH = 34;

export function routed(places: Places, passages: (PassageLine | null)[]): (Route | null)[] {
  const bands = bandsOf([...places.values(), ...labelsOf(passages)]);
  const ports = portsOf(places, passages);
  return passages.map((passage, number) => {
    if (passage === null) return null;
    const source = places.get(passage.source);
    const target = places.get(passage.target);
    if (source === undefined || target === undefined) return null;
    if (passage.source === passage.target) return loopAt(source, passage);
    const isBack = isBackward(source, target);
    const from = ports.get(`${number} source`) ?? middle(source);
    const to = ports.get(`${number} target`) ?? middle(target);
    const start = { x: from, y: isBack ? source.y : source.y + source.height };
    const end = { x: to, y: isBack ? target.y + target.height : target.y };
    const between = passage.points.slice(1, -1);
    return {
      path: pathThrough(start, between, tipBefore(end, isBack), bands, isBack),
      arrow: arrowAt(end, isBack ? "up" : "down"),
      label: passage.label,
      isBack,
    };
  });
}

interface Reach {
  y: number;
  height: number;
}

/** The words at arcs stand in layers of their own. */
function labelsOf(passages: (PassageLine | null)[]): Reach[] {
  return passages.flatMap((passage) => {
    if (passage === null || passage.source === passage.target) return [];
    return { y: passage.label.y - passage.labelHeight / 2, height: passage.labelHeight };
  });
}

/** The layers: how far up and down the highest part of each reaches. */
function bandsOf(parts: readonly Reach[]): Band[] {
  const bands: Band[] = [];
  for (const part of parts.toSorted((one, other) => centreOf(one) - centreOf(other))) {
    const last = bands.at(-1);
    const centre = centreOf(part);
    const bottom = part.y + part.height;
    if (last === undefined || centre - last.centre > SAME_LAYER) {
      bands.push({ centre, top: part.y, bottom });
    } else {
      last.top = Math.min(last.top, part.y);
      last.bottom = Math.max(last.bottom, bottom);
    }
  }
  return bands;
}

function centreOf({ y, height }: Reach): number {
  return y + height / 2;
}

function bandAt(bands: readonly Band[], y: number): Band | undefined {
  return bands.find((band) => y >= band.top - SAME_LAYER && y <= band.bottom + SAME_LAYER);
}

function tipBefore(end: Point, isBack: boolean): Point {
  return { x: end.x, y: end.y + (isBack ? ARROW_LENGTH : -ARROW_LENGTH) };
}

/** Each point in a layer becomes a straight piece as high as the layer. */
function pathThrough(
  start: Point,
  between: readonly Point[],
  end: Point,
  bands: readonly Band[],
  isBack: boolean,
): string {
  const pieces = [`M${point(start)}`];
  let last = start;
  const straight = (to: Point): void => {
    if (Math.abs(to.y - last.y) > 0.05) pieces.push(`L${point(to)}`);
    last = to;
  };
  const bent = (to: Point): void => {
    if (Math.abs(to.x - last.x) < 0.5) return straight(to);
    const half = (last.y + to.y) / 2;
    pieces.push(`C${point({ x: last.x, y: half })} ${point({ x: to.x, y: half })} ${point(to)}`);
    last = to;
  };
  const left = bandAt(bands, start.y);
  if (left) straight({ x: start.x, y: isBack ? left.top : left.bottom });
  for (const one of between) {
    const band = bandAt(bands, one.y);
    const [enter, leave] = isBack ? [band?.bottom, band?.top] : [band?.top, band?.bottom];
    bent({ x: one.x, y: enter ?? one.y });
    if (leave !== undefined) straight({ x: one.x, y: leave });
  }
  const reached = bandAt(bands, end.y + (isBack ? -ARROW_LENGTH : ARROW_LENGTH));
  const edge = isBack ? reached?.bottom : reached?.top;
  // The highest step of its layer has no room left above it for the bend.
  const bendsTo = isBack ? Math.max(edge ?? end.y, end.y) : Math.min(edge ?? end.y, end.y);
  bent({ x: end.x, y: bendsTo });
  straight(end);
  return pieces.join("");
}

/** A line out of the side that has room for it, and back into it. */
function loopAt(place: Place, passage: PassageLine): Route {
  const isRight = passage.label.x > middle(place);
  const side = isRight ? place.x + place.width : place.x;
  const away = isRight ? 1 : -1;
  const y = centreOf(place);
  const far = side + away * LOOP_REACH;
  const out = { x: side, y: y - 14 };
  const back = { x: side + away * ARROW_LENGTH, y: y + 14 };
  const bend = `C${point({ x: far, y: y - 24 })} ${point({ x: far, y: y + 24 })}`;
  return {
    path: `M${point(out)}${bend} ${point(back)}`,
    arrow: arrowAt({ x: side, y: y + 14 }, isRight ? "left" : "right"),
    label: { x: far + (away * passage.labelWidth) / 2, y },
    isBack: true,
  };
}

const DIRECTIONS = {
  down: { x: 0, y: 1 },
  up: { x: 0, y: -1 },
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
};

function arrowAt(tip: Point, direction: keyof typeof DIRECTIONS): string {
  const along = DIRECTIONS[direction];
  const foot = { x: tip.x - along.x * ARROW_LENGTH, y: tip.y - along.y * ARROW_LENGTH };
  const side = { x: along.y * ARROW_HALF, y: along.x * ARROW_HALF };
  const one = { x: foot.x + side.x, y: foot.y + side.y };
  const other = { x: foot.x - side.x, y: foot.y - side.y };
  return `M${point(tip)}L${point(one)}L${point(other)}Z`;
}

function point({ x, y }: Point): string {
  return `${Number(x.toFixed(1))} ${Number(y.toFixed(1))}`;
}
