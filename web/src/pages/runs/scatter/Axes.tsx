// The lines behind the points, with what they mean.

import type { ReactNode } from "react";

import { duration } from "../../../words/time";
import type { Frame, Plot } from "./placing";
import { lengthTicks, placed, timeTicks } from "./scales";

const TICK_PIXELS = 110;
const LINE_PIXELS = 18;

export function Axes({ plot, frame }: { plot: Plot; frame: Frame }): ReactNode {
  const right = frame.width - frame.right;
  const bottom = frame.height - frame.bottom;
  const across = timeTicks(plot.times, Math.max(2, (right - frame.left) / TICK_PIXELS));
  const up = lengthTicks(plot.lengths, (bottom - frame.top) / LINE_PIXELS, duration);
  return (
    <g className="scatter-axes" aria-hidden="true">
      {up.map(({ at, text }) => {
        const y = placed(at, plot.lengths, bottom, frame.top);
        return (
          <g key={text}>
            <line x1={frame.left} x2={right} y1={y} y2={y} />
            <text x={frame.left - 6} y={y + 4} textAnchor="end">
              {text}
            </text>
          </g>
        );
      })}
      {across.map(({ at, text }) => {
        const x = placed(at, plot.times, frame.left, right);
        return (
          <g key={at}>
            <line x1={x} x2={x} y1={frame.top} y2={bottom} />
            <text x={x} y={frame.height - 7} textAnchor={anchor(x, frame)}>
              {text}
            </text>
          </g>
        );
      })}
    </g>
  );
}

/** A text at the edge stays within it. */
function anchor(x: number, frame: Frame): "start" | "middle" | "end" {
  if (x - frame.left < 30) return "start";
  return frame.width - x < 40 ? "end" : "middle";
}
