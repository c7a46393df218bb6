// A program as a picture: its steps in layers, the arcs between them, and how a run stands in it.

import { MiniMap, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useId, useState, type ReactNode, type TouchEvent } from "react";

import type { GraphShown } from "../api/types";
import { Loading, Notice } from "../parts/Notice";
import { Arcs } from "./Arcs";
import { GraphControls } from "./GraphControls";
import type { Layout } from "./layout";
import { StepList } from "./StepList";
import { StepNode, type StepFlowNode } from "./StepNode";
import { useLayout } from "./useLayout";
import { useSight } from "./useSight";
import { useSteps } from "./useSteps";
import { ZOOM_MIN } from "./views";
import { lookOf } from "./words";
import "./graph.css";

export interface FlowGraphProps {
  graph: GraphShown;
  selected: string | null;
  onSelect: (step: string | null) => void;
  label?: string;
}

const NODE_TYPES = { step: StepNode };
const ZOOM_MAX = 2;
// Fewer are found without a map.
const MAP_FROM_NODES = 40;
// From here on only what is in sight is in the page.
const CULL_FROM_NODES = 300;
const HEIGHT_LEAST = 260;
const HEIGHT_MOST = 620;

export function FlowGraph(props: FlowGraphProps): ReactNode {
  const isRun = useIsRun(props.graph);
  const layout = useLayout(props.graph, isRun);
  if (props.graph.nodes.length === 0) {
    return <Notice tone="calm">This program has no steps to draw.</Notice>;
  }
  return (
    <section className="graph" aria-label={props.label ?? "Graph of the steps"}>
      {layout === null && <Loading what={`the picture of ${props.graph.nodes.length} steps`} />}
      {layout === "failed" && (
        <Notice tone="late">There is too much here to draw. These are the steps:</Notice>
      )}
      {layout !== null && layout !== "failed" && (
        <ReactFlowProvider>
          <Picture {...props} layout={layout} isRun={isRun} />
        </ReactFlowProvider>
      )}
      <StepList graph={props.graph} isRun={isRun} isHidden={layout !== "failed"} />
    </section>
  );
}

/** Once a step has started it is a run, also at a moment before that. */
function useIsRun(graph: GraphShown): boolean {
  const [known, setKnown] = useState(false);
  const isRun = known || graph.nodes.some((node) => node.status !== null);
  if (isRun && !known) setKnown(true);
  return isRun;
}

/** One finger scrolls the page, as everywhere; two move and zoom the picture. */
function leaveOneFinger(event: TouchEvent): void {
  if (event.touches.length < 2) event.stopPropagation();
}

interface PictureProps extends FlowGraphProps {
  layout: Layout;
  isRun: boolean;
}

function Picture({ graph, selected, onSelect, layout, isRun }: PictureProps): ReactNode {
  const hint = useId();
  const sight = useSight(layout, graph, selected);
  const steps = useSteps({ graph, layout, isRun, selected, onSelect, show: sight.show });
  const isLarge = graph.nodes.length > MAP_FROM_NODES;
  const height = Math.max(HEIGHT_LEAST, Math.min(layout.height + 24, HEIGHT_MOST));
  return (
    <>
      <div
        className="graph-canvas"
        ref={sight.canvas}
        style={{ height }}
        onTouchStartCapture={leaveOneFinger}
        onTouchMoveCapture={leaveOneFinger}
      >
        <ReactFlow<StepFlowNode>
          aria-label="Steps; arrow keys go from one to the next, Enter selects"
          aria-describedby={hint}
          nodes={steps}
          edges={[]}
          nodeTypes={NODE_TYPES}
          onInit={sight.onInit}
          minZoom={ZOOM_MIN}
          maxZoom={ZOOM_MAX}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          panActivationKeyCode={null}
          preventScrolling={false}
          zoomOnScroll={false}
          zoomOnDoubleClick={false}
          onlyRenderVisibleElements={graph.nodes.length > CULL_FROM_NODES}
          onPaneClick={() => onSelect(null)}
        >
          <Arcs graph={graph} layout={layout} isRun={isRun} />
          <GraphControls onFit={sight.fit} onFind={sight.find} />
          {isLarge && (
            <MiniMap<StepFlowNode>
              ariaLabel="Where in the graph this is"
              nodeClassName={({ data }) =>
                data.shown.status === null ? "graph-plain" : `graph-tone-${lookOf(data.shown).tone}`
              }
              pannable
              zoomable
            />
          )}
        </ReactFlow>
      </div>
      <p id={hint} className="graph-hint small soft">
        <span className="graph-hint-mouse">Drag to move, Ctrl and the wheel to zoom.</span>
        <span className="graph-hint-touch">Two fingers move and zoom the picture.</span>
      </p>
    </>
  );
}
