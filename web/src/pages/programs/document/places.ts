// Which lines of a document a step has, and which step a line belongs to.

import type { GraphShown } from "../../../api/types";

/** The lines of a step, its first one first: those of a playbook are together, those of a graph are
 * that of the node and of its edges. */
export function linesOf(
  graph: GraphShown,
  step: string,
  { text, language }: { text: string; language: string | null },
): number[] {
  const first = graph.nodes.find((node) => node.name === step)?.line ?? null;
  if (first === null) return [];
  if (language === "playbook") return blockAt(text.split("\n"), first);
  const edges = graph.edges.filter((edge) => edge.source === step && edge.line !== null);
  return [...new Set([first, ...edges.map((edge) => edge.line ?? first)])];
}

/** From the line of `step:` to the end of what is indented below it. */
function blockAt(lines: readonly string[], first: number): number[] {
  const head = lines[first - 1] ?? "";
  const depth = indentOf(head);
  let last = first;
  for (let number = first + 1; number <= lines.length; number++) {
    const line = lines[number - 1] ?? "";
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const isNext = indentOf(line) === depth && line.trimStart().startsWith("-");
    if (isNext || indentOf(line) < depth) break;
    last = number;
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The step whose node or edge is the nearest at or above a line; null above all of them. */
export function stepAt(graph: GraphShown, line: number): string | null {
  const places = [
    ...graph.nodes.map((node) => ({ line: node.line, step: node.name })),
    ...graph.edges.map((edge) => ({ line: edge.line, step: edge.source })),
  ];
  let best: { line: number; step: string } | null = null;
  for (const place of places) {
    if (place.line === null || place.line > line) continue;
    if (best === null || place.line > best.line) best = { line: place.line, step: place.step };
  }
  return best?.step ?? null;
}
