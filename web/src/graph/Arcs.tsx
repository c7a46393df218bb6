// The arcs of the graph, below its steps: lit where the run went, dashed where a failure goes.

import { ViewportPortal } from "@xyflow/react";
import { memo, type ReactNode } from "react";

import type { EdgeShown, GraphShown } from "../api/types";
import type { Layout } from "./layout";
import type { Route } from "./routes";
import { lastTaken } from "./words";

interface ArcsProps {
  graph: GraphShown;
  layout: Layout;
  isRun: boolean;
}

export function Arcs({ graph, layout, isRun }: ArcsProps): ReactNode {
  const last = lastTaken(graph);
  const drawn = graph.edges.map((edge, number) => ({
    edge,
    number,
    route: layout.routes[number] ?? null,
    isLast: number === last,
  }));
  // What is lit lies above what is not.
  const lines = drawn.toSorted((one, other) => one.edge.taken - other.edge.taken);
  return (
    <ViewportPortal>
      <div className="graph-arcs" aria-hidden="true">
        <svg width={layout.width} height={layout.height}>
          {lines.map(({ edge, number, route, isLast }) =>
            route === null ? null : (
              <ArcLine key={number} edge={edge} route={route} isLast={isLast} isRun={isRun} />
            ),
          )}
        </svg>
        {drawn.map(({ edge, number, route, isLast }) =>
          route === null ? null : (
            <ArcLabel key={number} edge={edge} route={route} isLast={isLast} isRun={isRun} />
          ),
        )}
      </div>
    </ViewportPortal>
  );
}

interface ArcProps {
  edge: EdgeShown;
  route: Route;
  isLast: boolean;
  isRun: boolean;
}

function arcClass(edge: EdgeShown, isRun: boolean): string {
  const kind = edge.is_failure ? " graph-failure" : "";
  if (!isRun) return `graph-arc${kind}`;
  return `graph-arc${kind} ${edge.taken > 0 ? "graph-lit" : "graph-faint"}`;
}

const ArcLine = memo(function ArcLine({ edge, route, isLast, isRun }: ArcProps): ReactNode {
  return (
    <g className={arcClass(edge, isRun)} data-arc={`${edge.source} → ${edge.target}`}>
      {isLast && <path className="graph-arc-halo" d={route.path} />}
      <path className="graph-arc-line" d={route.path} />
      <path className="graph-arc-arrow" d={route.arrow} />
    </g>
  );
});

const ArcLabel = memo(function ArcLabel({ edge, route, isLast, isRun }: ArcProps): ReactNode {
  const hasCount = isRun && edge.taken > 1;
  if (!edge.label && !hasCount) return null;
  const at = `translate(-50%, -50%) translate(${route.label.x}px, ${route.label.y}px)`;
  const last = isLast ? " graph-last" : "";
  return (
    <div
      className={`graph-label ${arcClass(edge, isRun)}${last}`}
      style={{ transform: at }}
      title={edge.label}
    >
      {edge.label && <span className="graph-label-text">{edge.label}</span>}
      {hasCount && <span className="graph-count">×{edge.taken.toLocaleString("en")}</span>}
    </div>
  );
});
