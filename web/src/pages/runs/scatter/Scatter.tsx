// Runs by start and duration. A click opens one, dragging chooses a range of time, and the arrow
// keys go from run to run; the table below has the same runs.

import {
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from "react";

import type { RunPoints } from "../../../api/types";
import { go } from "../../../router";
import { STATES } from "../../../words/states";
import { Axes } from "./Axes";
import { FILLED } from "./glyphs";
import { Legend } from "./Legend";
import { nearest, plotted, type Frame } from "./placing";
import { valueAt } from "./scales";
import { stepped, summary, pointText } from "./descriptions";
import { Tip } from "./Tip";
import { useWidth } from "./useWidth";
import "./scatter.css";

const HEIGHT = 190;
const REACH_PIXELS = 12;
const DRAG_PIXELS_MIN = 6;

interface ScatterProps {
  data: RunPoints;
  onRange: (since: string, until: string) => void;
}

export function Scatter({ data, onRange }: ScatterProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const frame = useMemo<Frame>(
    () => ({ width, height: HEIGHT, left: 52, right: 12, top: 10, bottom: 24 }),
    [width],
  );
  const plot = useMemo(() => plotted(data.points, frame), [data.points, frame]);
  const [pointed, setPointed] = useState(-1);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const found = plot.points[pointed];
  const last = plot.points.length - 1;

  const place = (event: PointerEvent<SVGSVGElement>): [number, number] => {
    const edge = event.currentTarget.getBoundingClientRect();
    return [event.clientX - edge.left, event.clientY - edge.top];
  };
  const move = (event: PointerEvent<SVGSVGElement>): void => {
    const [x, y] = place(event);
    if (drag) setDrag({ ...drag, to: Math.min(Math.max(x, frame.left), width - frame.right) });
    else setPointed(nearest(plot.points, x, y, REACH_PIXELS));
  };
  const press = (event: PointerEvent<SVGSVGElement>): void => {
    if (event.button !== 0) return;
    const [x] = place(event);
    event.currentTarget.setPointerCapture?.(event.pointerId);
    setDrag({ from: x, to: x });
  };
  const release = (event: PointerEvent<SVGSVGElement>): void => {
    if (drag === null) return;
    setDrag(null);
    const [x, y] = place(event);
    if (Math.abs(drag.to - drag.from) >= DRAG_PIXELS_MIN) return choose(drag.from, drag.to);
    const run = plot.points[nearest(plot.points, x, y, REACH_PIXELS)]?.point[0];
    if (run !== undefined) go(`/runs/${run}`);
  };
  const choose = (one: number, other: number): void => {
    const edge = (at: number): string =>
      new Date(valueAt(at, plot.times, frame.left, width - frame.right)).toISOString();
    onRange(edge(Math.min(one, other)), edge(Math.max(one, other)));
  };
  const step = (event: KeyboardEvent): void => {
    const to = stepped(event.key, pointed, last);
    if (event.key === "Enter" && found) go(`/runs/${found.point[0]}`);
    if (event.key === "Escape") setPointed(-1);
    if (to === null) return;
    event.preventDefault();
    setPointed(to);
  };
  return (
    <figure className="sheet runs-scatter">
      <div className="scatter-box" ref={box}>
        <svg
          width={width}
          height={HEIGHT}
          role="slider"
          tabIndex={0}
          aria-label={summary(plot, data.is_cut)}
          aria-valuemin={1}
          aria-valuemax={last + 1}
          aria-valuenow={Math.max(pointed, 0) + 1}
          aria-valuetext={found ? pointText(found.point) : "no run chosen"}
          onPointerMove={move}
          onPointerDown={press}
          onPointerUp={release}
          onPointerCancel={() => setDrag(null)}
          onPointerLeave={() => drag === null && setPointed(-1)}
          onKeyDown={step}
          onBlur={() => setPointed(-1)}
        >
          <Axes plot={plot} frame={frame} />
          {plot.paths.map(([state, path]) => (
            <path
              key={state}
              d={path}
              className={`scatter-${STATES[state].tone}${FILLED.has(state) ? " is-filled" : ""}`}
            />
          ))}
          {found && <circle className="scatter-ring" cx={found.x} cy={found.y} r="8" />}
          {drag && (
            <rect
              className="scatter-range"
              x={Math.min(drag.from, drag.to)}
              y={frame.top}
              width={Math.abs(drag.to - drag.from)}
              height={HEIGHT - frame.top - frame.bottom}
            />
          )}
        </svg>
        {found && !drag && <Tip found={found} width={width} />}
      </div>
      <Legend counts={plot.counts} isCut={data.is_cut} />
    </figure>
  );
}
