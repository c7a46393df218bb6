// The graph as a list, for those who do not see it.

import type { ReactNode } from "react";

import type { GraphShown } from "../api/types";
import { edgeWords, lastTaken, nodeWords } from "./words";

interface StepListProps {
  graph: GraphShown;
  isRun: boolean;
  /** There is a picture, for those who see it. */
  isHidden: boolean;
}

export function StepList({ graph, isRun, isHidden }: StepListProps): ReactNode {
  const last = lastTaken(graph);
  const ways = new Map<string, string[]>();
  graph.edges.forEach((edge, number) => {
    const said = edgeWords(edge, number === last);
    ways.set(edge.source, [...(ways.get(edge.source) ?? []), said]);
  });
  return (
    <ul
      className={isHidden ? "visually-hidden" : "graph-list"}
      aria-label="Steps and where they lead"
    >
      {graph.nodes.map((node) => {
        const to = ways.get(node.name);
        return (
          <li key={node.name}>
            {nodeWords(node, isRun)}
            {to && `; leads to ${to.join("; ")}`}
          </li>
        );
      })}
    </ul>
  );
}
