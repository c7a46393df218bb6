// Which step the arrow keys lead to: along an arc where there is one, else the nearest that way.

import type { EdgeShown } from "../api/types";
import type { Layout, Place } from "./layout";

export type Way = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight";
// What is off to the side is farther than it measures.
const ASIDE = 3;

export function isWay(key: string): key is Way {
  return key === "ArrowUp" || key === "ArrowDown" || key === "ArrowLeft" || key === "ArrowRight";
}

export function neighbour(
  layout: Layout,
  edges: readonly EdgeShown[],
  from: string,
  way: Way,
): string | null {
  const joined = new Set<string>();
  for (const edge of edges) {
    if (way === "ArrowDown" && edge.source === from) joined.add(edge.target);
    if (way === "ArrowUp" && edge.target === from) joined.add(edge.source);
  }
  return nearest(layout, from, way, joined) ?? nearest(layout, from, way, null);
}

function nearest(
  layout: Layout,
  from: string,
  way: Way,
  among: ReadonlySet<string> | null,
): string | null {
  const here = layout.places.get(from);
  if (here === undefined) return null;
  let found: string | null = null;
  let least = Infinity;
  for (const [name, place] of layout.places) {
    if (name === from || (among !== null && !among.has(name))) continue;
    const far = distance(here, place, way);
    if (far < least) [found, least] = [name, far];
  }
  return found;
}

function distance(here: Place, there: Place, way: Way): number {
  const right = there.x + there.width / 2 - (here.x + here.width / 2);
  const down = there.y + there.height / 2 - (here.y + here.height / 2);
  const isUpright = way === "ArrowUp" || way === "ArrowDown";
  const along = isUpright ? down : right;
  const ahead = way === "ArrowUp" || way === "ArrowLeft" ? -along : along;
  return ahead <= 1 ? Infinity : ahead + ASIDE * Math.abs(isUpright ? right : down);
}
