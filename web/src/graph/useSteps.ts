// The steps as the graph draws them, and how the keyboard goes from one to the next.

import { useMemo, useState, type KeyboardEvent } from "react";

import type { GraphShown } from "../api/types";
import type { Layout } from "./layout";
import { isWay, neighbour } from "./neighbours";
import type { StepFlowNode } from "./StepNode";

interface StepsAsked {
  graph: GraphShown;
  layout: Layout;
  isRun: boolean;
  selected: string | null;
  onSelect: (step: string | null) => void;
  /** Bring a step into sight and put the focus on it. */
  show: (step: string) => void;
}

export function useSteps(asked: StepsAsked): StepFlowNode[] {
  const { graph, layout, isRun, selected, onSelect, show } = asked;
  const [visited, setVisited] = useState<string | null>(null);
  const stop = stopOf(graph, visited ?? selected);
  return useMemo(() => {
    const onKey = (event: KeyboardEvent<HTMLElement>, step: string): void => {
      if (event.key === "Enter" || event.key === " ") onSelect(step);
      else if (event.key === "Escape") onSelect(null);
      else if (!isWay(event.key)) return;
      event.preventDefault();
      const next = isWay(event.key) ? neighbour(layout, graph.edges, step, event.key) : null;
      setVisited(next ?? step);
      if (next !== null) show(next);
    };
    const choose = (step: string): void => (setVisited(step), onSelect(step));
    return graph.nodes.flatMap((shown) => {
      const place = layout.places.get(shown.name);
      if (place === undefined) return [];
      const { x, y, width, height } = place;
      return {
        id: shown.name,
        type: "step" as const,
        position: { x, y },
        width,
        height,
        measured: { width, height },
        // The step itself is the button; what is around it says nothing.
        domAttributes: { "aria-roledescription": undefined },
        data: {
          shown,
          isRun,
          isSelected: shown.name === selected,
          isStop: shown.name === stop,
          onSelect: choose,
          onKey,
        },
      };
    });
  }, [graph, layout, isRun, selected, stop, onSelect, show]);
}

function stopOf(graph: GraphShown, wanted: string | null): string | undefined {
  const found = graph.nodes.find((node) => node.name === wanted);
  return (found ?? graph.nodes.find((node) => node.is_entry) ?? graph.nodes[0])?.name;
}
