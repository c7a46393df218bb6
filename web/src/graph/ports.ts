// Where arcs leave and enter a step: side by side along its upper and lower side.

import type { Place } from "./layout";
import type { PassageLine } from "./routes";

export type Places = ReadonlyMap<string, Place>;

interface Port {
  edge: number;
  end: "source" | "target";
  towards: number;
}

// In the middle of a side: the outlines of some steps lean inwards at the corners.
const PORT_SPAN = 0.64;

export function middle(place: Place): number {
  return place.x + place.width / 2;
}

export function isBackward(source: Place, target: Place): boolean {
  return source.y + source.height / 2 > target.y + target.height / 2;
}

/** Where each arc leaves and enters, side by side in the order of where they lead. */
export function portsOf(places: Places, passages: (PassageLine | null)[]): Map<string, number> {
  const sides = new Map<string, Port[]>();
  const add = (side: string, port: Port): void => {
    sides.set(side, [...(sides.get(side) ?? []), port]);
  };
  passages.forEach((passage, edge) => {
    if (passage === null || passage.source === passage.target) return;
    const source = places.get(passage.source);
    const target = places.get(passage.target);
    if (source === undefined || target === undefined) return;
    const [out, into] = isBackward(source, target) ? ["top", "bottom"] : ["bottom", "top"];
    const after = passage.points[1]?.x ?? middle(target);
    const before = passage.points.at(-2)?.x ?? middle(source);
    add(`${out} ${passage.source}`, { edge, end: "source", towards: after });
    add(`${into} ${passage.target}`, { edge, end: "target", towards: before });
  });
  const found = new Map<string, number>();
  for (const [side, ports] of sides) {
    const place = places.get(side.slice(side.indexOf(" ") + 1));
    if (place === undefined) continue;
    ports.sort((one, other) => one.towards - other.towards || one.edge - other.edge);
    const span = place.width * PORT_SPAN;
    ports.forEach((port, index) => {
      const share = (index + 1) / (ports.length + 1) - 0.5;
      found.set(`${port.edge} ${port.end}`, middle(place) + span * share);
    });
  }
  return found;
}
