// Buttons to zoom into a range of time, to move along it, and to read it as a table.

import type { ReactNode } from "react";

import { lengthOf, moved, zoomed, type Span } from "./scale";

interface ToolsProps {
  span: Span;
  whole: Span;
  isZoomed: boolean;
  look: (span: Span | null) => void;
}

const FACTOR = 1.6;
const SHARE = 0.4;

export function Tools({ span, whole, isZoomed, look }: ToolsProps): ReactNode {
  const zoom = (factor: number): void =>
    look(zoomed(span, factor, span.from + lengthOf(span) / 2, whole));
  return (
    <div className="gantt-tools" role="group" aria-label="Stretch of time">
      <Tool
        name="Earlier"
        text="◂"
        isOff={!isZoomed}
        onClick={() => look(moved(span, -SHARE, whole))}
      />
      <Tool
        name="Later"
        text="▸"
        isOff={!isZoomed}
        onClick={() => look(moved(span, SHARE, whole))}
      />
      <Tool name="Zoom in" text="+" isOff={false} onClick={() => zoom(FACTOR)} />
      <Tool name="Look from afar" text="−" isOff={!isZoomed} onClick={() => zoom(1 / FACTOR)} />
      <Tool
        name="Show all the time there is"
        text="All"
        isOff={!isZoomed}
        onClick={() => look(null)}
      />
    </div>
  );
}

interface ToolProps {
  name: string;
  text: string;
  isOff: boolean;
  onClick: () => void;
}

function Tool({ name, text, isOff, onClick }: ToolProps): ReactNode {
  return (
    <button type="button" aria-label={name} title={name} disabled={isOff} onClick={onClick}>
      {text}
    </button>
  );
}
