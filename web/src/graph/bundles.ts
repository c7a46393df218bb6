// Arcs that join the same two steps, in either direction, go side by side.

import { backward } from "./backward";
import type { EdgeLine, Structure } from "./layout";

/** One arc of a bundle. Steps are identified by their numbers: any text may name one. */
export interface Strand {
  upper: string;
  lower: string;
  isBack: boolean;
  /** How far it is from the middle of the bundle, and how far its words are. */
  aside: number;
  labelAside: number;
  bundleWidth: number;
  bundleHeight: number;
}

const STRAND_GAP = 12;
const LABEL_GAP = 8;

/** One for each edge; null where an end of it is not in the graph. */
export function bundled(structure: Structure): (Strand | null)[] {
  const numbers = new Map(structure.nodes.map((box, number) => [box.name, String(number)]));
  const back = backward([...numbers.keys()], structure.edges);
  const strands: (Strand | null)[] = structure.edges.map(() => null);
  const bundles = new Map<string, number[]>();
  structure.edges.forEach((edge, number) => {
    const [source, target] = [numbers.get(edge.source), numbers.get(edge.target)];
    if (source === undefined || target === undefined) return;
    const isBack = back.has(number);
    const [upper, lower] = isBack ? [target, source] : [source, target];
    const alone = { aside: 0, labelAside: 0, bundleWidth: 0, bundleHeight: 0 };
    strands[number] = { upper, lower, isBack, ...alone };
    bundles.set(`${upper} ${lower}`, [...(bundles.get(`${upper} ${lower}`) ?? []), number]);
  });
  for (const members of bundles.values()) spread(members, structure.edges, strands);
  return strands;
}

function spread(
  members: readonly number[],
  edges: readonly EdgeLine[],
  strands: readonly (Strand | null)[],
): void {
  const sizes = members.map((number) => edges[number]);
  const gaps = LABEL_GAP * (members.length - 1);
  const width = sizes.reduce((sum, size) => sum + (size?.labelWidth ?? 0), gaps);
  const height = Math.max(...sizes.map((size) => size?.labelHeight ?? 0));
  let left = -width / 2;
  members.forEach((number, at) => {
    const strand = strands[number];
    const own = edges[number]?.labelWidth ?? 0;
    if (strand) {
      strand.aside = (at - (members.length - 1) / 2) * STRAND_GAP;
      strand.labelAside = left + own / 2;
      [strand.bundleWidth, strand.bundleHeight] = [width, height];
    }
    left += own + LABEL_GAP;
  });
}
