// Where the steps of a graph stand: in layers, the entry at the top. Knows sizes and who leads to
// whom, nothing of runs. It is plain data in and out, so that a worker can do it.

import { Graph, layout as arrange } from "@dagrejs/dagre";

import { bundled, type Strand } from "./bundles";
import { LOOP_REACH, routed, type PassageLine, type Route } from "./routes";
import type { Size } from "./sizes";

export interface NodeBox {
  name: string;
  width: number;
  height: number;
}

export interface EdgeLine {
  source: string;
  target: string;
  isFailure: boolean;
  labelWidth: number;
  labelHeight: number;
}

/** The entry is the first of the nodes. */
export interface Structure {
  nodes: NodeBox[];
  edges: EdgeLine[];
}

/** By its upper left corner. */
export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  places: Map<string, Place>;
  /** One for each edge; null where an end of it is not in the graph. */
  routes: (Route | null)[];
}

const NODE_GAP = 36;
const EDGE_GAP = 20;
const RANK_GAP = 52;
const MARGIN = 16;
// The best ranks take too long to find for more.
const BEST_RANKS_NODES_MAX = 600;

interface Bundle {
  points?: Point[];
  x?: number;
  y?: number;
  width: number;
  height: number;
  labelpos: "c";
}

/** Throws where the arrangement fails: whoever asks shows the steps in another way. */
export function layoutOf(structure: Structure): Layout {
  const bundles = bundled(structure);
  const graph = graphOf(structure, bundles);
  arrange(graph);
  const places = new Map<string, Place>();
  structure.nodes.forEach((box, number) => {
    const centre = graph.node(String(number));
    const [x, y] = [centre.x - centre.width / 2, centre.y - box.height / 2];
    places.set(box.name, { x, y, width: box.width, height: box.height });
  });
  const passages = structure.edges.map((edge, number) => {
    const strand = bundles[number];
    if (strand === undefined || strand === null) return null;
    if (edge.source === edge.target) return loopBeside(edge, places.get(edge.source));
    return passageOf(edge, strand, graph.edge(strand.upper, strand.lower));
  });
  const { width = 0, height = 0 } = graph.graph();
  if (isMirrored(places, structure.edges)) mirror(places, passages, width);
  return { width, height, places, routes: routed(places, passages) };
}

/** An arc goes its way beside those that join the same two steps. */
function passageOf(edge: EdgeLine, strand: Strand, bundle: Bundle): PassageLine {
  const { points = [], x = 0, y = 0 } = bundle;
  const label = { x: x + strand.labelAside, y };
  const along = points.map((point) => {
    const isAtLabel = Math.abs(point.y - y) < 1;
    return { x: point.x + (isAtLabel ? strand.labelAside : strand.aside), y: point.y };
  });
  return { ...edge, points: strand.isBack ? along.toReversed() : along, label };
}

function loopBeside(edge: EdgeLine, place: Place | undefined): PassageLine | null {
  if (place === undefined) return null;
  const x = place.x + place.width + LOOP_REACH + edge.labelWidth / 2;
  return { ...edge, points: [], label: { x, y: place.y + place.height / 2 } };
}

/** Whether what a document names first stands more often to the right than to the left. */
function isMirrored(places: ReadonlyMap<string, Place>, edges: readonly EdgeLine[]): boolean {
  const last = new Map<string, number>();
  let turns = 0;
  for (const edge of edges) {
    const x = places.get(edge.target)?.x;
    if (x === undefined || edge.source === edge.target) continue;
    turns += Math.sign(x - (last.get(edge.source) ?? x));
    last.set(edge.source, x);
  }
  return turns < 0;
}

function mirror(
  places: ReadonlyMap<string, Place>,
  passages: readonly (PassageLine | null)[],
  width: number,
): void {
  for (const place of places.values()) place.x = width - place.x - place.width;
  for (const passage of passages) {
    for (const point of passage ? [...passage.points, passage.label] : []) {
      point.x = width - point.x;
    }
  }
}

/** What is asked for, and how large it became. */
interface Drawn {
  rankdir: "TB";
  nodesep: number;
  edgesep: number;
  ranksep: number;
  marginx: number;
  marginy: number;
  ranker: string;
  width?: number;
  height?: number;
}

type Bundled = Graph<Drawn, Point & Size, Bundle>;

/** One edge for all arcs between two steps: the arrangement fails with more. */
function graphOf(structure: Structure, strands: readonly (Strand | null)[]): Bundled {
  const graph: Bundled = new Graph<Drawn, Point & Size, Bundle>();
  const isLarge = structure.nodes.length > BEST_RANKS_NODES_MAX;
  graph.setGraph({
    rankdir: "TB",
    nodesep: NODE_GAP,
    edgesep: EDGE_GAP,
    ranksep: RANK_GAP,
    marginx: MARGIN,
    marginy: MARGIN,
    ranker: isLarge ? "longest-path" : "network-simplex",
  });
  const loops = loopWidths(structure);
  structure.nodes.forEach(({ name, width, height }, number) => {
    const room = width + (loops.get(name) ?? 0);
    graph.setNode(String(number), { width: room, height, x: 0, y: 0 });
  });
  for (const strand of strands) {
    if (strand === null || strand.upper === strand.lower) continue;
    const size = { width: strand.bundleWidth, height: strand.bundleHeight };
    graph.setEdge(strand.upper, strand.lower, { ...size, labelpos: "c" });
  }
  return graph;
}

/** What an arc from a step to itself needs beside it. */
function loopWidths(structure: Structure): Map<string, number> {
  const widths = new Map<string, number>();
  for (const { source, target, labelWidth } of structure.edges) {
    if (source !== target) continue;
    widths.set(source, Math.max(widths.get(source) ?? 0, LOOP_REACH + labelWidth));
  }
  return widths;
}
