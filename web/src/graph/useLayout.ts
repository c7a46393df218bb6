// The layout of a graph, made once for its structure: how a run stands does not move a step.

import { useEffect, useMemo, useState } from "react";

import type { GraphShown, NodeShown } from "../api/types";
import { layoutOf, type Layout, type Structure } from "./layout";
import { labelSize, nodeSize } from "./sizes";

// These take a fraction of a second; more would hold up the page.
const LAYOUT_AT_ONCE_NODES_MAX = 300;
const LAYOUT_AT_ONCE_EDGES_MAX = 400;
// Nobody waits longer for a picture; the list of steps says the same.
const LAYOUT_MS_MAX = 20_000;

export function structureOf(graph: GraphShown, isRun: boolean): Structure {
  return {
    nodes: entryFirst(graph.nodes).map((node) => ({ name: node.name, ...nodeSize(node, isRun) })),
    edges: graph.edges.map((edge) => {
      const size = labelSize(edge, isRun);
      const { source, target, is_failure: isFailure } = edge;
      return { source, target, isFailure, labelWidth: size.width, labelHeight: size.height };
    }),
  };
}

function entryFirst(nodes: readonly NodeShown[]): NodeShown[] {
  return nodes.toSorted((one, other) => Number(other.is_entry) - Number(one.is_entry));
}

/** Null while a large one is being made; "failed" where it could not be. */
export type LayoutMade = Layout | null | "failed";

export function useLayout(graph: GraphShown, isRun: boolean): LayoutMade {
  const key = JSON.stringify(structureOf(graph, isRun));
  const isMuch =
    graph.nodes.length > LAYOUT_AT_ONCE_NODES_MAX || graph.edges.length > LAYOUT_AT_ONCE_EDGES_MAX;
  const isLarge = isMuch && typeof Worker !== "undefined";
  const here = useMemo(() => (isLarge ? null : made(key)), [key, isLarge]);
  const beside = useLayoutBeside(key, isLarge);
  return here ?? beside;
}

function made(key: string): LayoutMade {
  try {
    return layoutOf(parsed(key));
  } catch (error) {
    console.error("No layout for this graph:", error);
    return "failed";
  }
}

function parsed(key: string): Structure {
  return JSON.parse(key) as Structure;
}

function useLayoutBeside(key: string, isLarge: boolean): LayoutMade {
  const [found, setFound] = useState<{ key: string; layout: LayoutMade } | null>(null);
  useEffect(() => {
    if (!isLarge) return;
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    const give = (layout: LayoutMade): void => {
      clearTimeout(timer);
      worker.terminate();
      setFound({ key, layout });
    };
    const timer = setTimeout(() => give("failed"), LAYOUT_MS_MAX);
    worker.addEventListener("message", (event: MessageEvent<Layout>) => give(event.data));
    worker.addEventListener("error", () => give("failed"));
    worker.postMessage(parsed(key));
    return () => (clearTimeout(timer), worker.terminate());
  }, [key, isLarge]);
  return found?.key === key ? found.layout : null;
}
