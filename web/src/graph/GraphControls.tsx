// Buttons to look at the graph closer, from afar, as a whole, or where the run is.

import { Panel, useReactFlow } from "@xyflow/react";
import type { ReactNode } from "react";

interface GraphControlsProps {
  onFit: () => void;
  onFind: () => void;
}

const GLIDE = { duration: 120 };

export function GraphControls({ onFit, onFind }: GraphControlsProps): ReactNode {
  const { zoomIn, zoomOut } = useReactFlow();
  return (
    <Panel position="top-right">
      <div className="graph-controls" role="group" aria-label="Sight">
        <Control name="Zoom in" path="M8 3.5V12.5M3.5 8H12.5" onClick={() => void zoomIn(GLIDE)} />
        <Control name="Zoom out" path="M3.5 8H12.5" onClick={() => void zoomOut(GLIDE)} />
        <Control name="Show all" path="M3 6V3H6M10 3H13V6M13 10V13H10M6 13H3V10" onClick={onFit} />
        <Control
          name="Go to the selected step, or to the one that matters now"
          path="M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M8 1.5V4M8 12V14.5M1.5 8H4M12 8H14.5"
          onClick={onFind}
        />
      </div>
    </Panel>
  );
}

interface ControlProps {
  name: string;
  path: string;
  onClick: () => void;
}

function Control({ name, path, onClick }: ControlProps): ReactNode {
  return (
    <button type="button" aria-label={name} title={name} onClick={onClick}>
      <svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor">
        <path d={path} strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    </button>
  );
}
