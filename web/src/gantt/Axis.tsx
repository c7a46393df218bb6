// The axis of time above the lanes.

import { memo, type ReactNode } from "react";

import { pixelOf, ticksOf, type Scale } from "./scale";

export const AXIS_HEIGHT = 26;
const TEXT_PIXELS = 56;

export const Axis = memo(function Axis({ scale }: { scale: Scale }): ReactNode {
  return (
    <div className="gantt-axis" aria-hidden="true">
      <div className="gantt-head">Step</div>
      <svg width={scale.width} height={AXIS_HEIGHT}>
        {ticksOf(scale).map(({ at, text }) => {
          const x = pixelOf(scale, at);
          // The words of the last one would be cut at the edge.
          const hasRoom = x < scale.width - TEXT_PIXELS;
          return (
            <g key={at}>
              <path className="gantt-tick" d={`M${x} ${AXIS_HEIGHT - 6}V${AXIS_HEIGHT}`} />
              {hasRoom && (
                <text x={x + 4} y={15}>
                  {text}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
});

/** Thin lines through all lanes. */
export const Rulers = memo(function Rulers({ scale }: { scale: Scale }): ReactNode {
  return (
    <svg className="gantt-rulers" width={scale.width} height="100%" aria-hidden="true">
      {ticksOf(scale).map(({ at }) => (
        <line
          key={at}
          className="gantt-ruler"
          x1={pixelOf(scale, at)}
          x2={pixelOf(scale, at)}
          y1="0"
          y2="100%"
        />
      ))}
    </svg>
  );
});
