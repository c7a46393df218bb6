// A lane with more bars than anyone could tell apart, as areas.

import type { ReactNode } from "react";

import type { LaneShown } from "../api/types";
import { densityDrawn } from "./density";
import type { Scale } from "./scale";
import { densityWords } from "./words";

const TOP = 4;
const HEIGHT = 26;

interface DensityPlotProps {
  lane: LaneShown;
  index: number;
  scale: Scale;
  isStop: boolean;
}

export function DensityPlot({ lane, index, scale, isStop }: DensityPlotProps): ReactNode {
  if (lane.density === null) return null;
  const drawn = densityDrawn(lane.density, scale, HEIGHT);
  return (
    <g
      className="gantt-density"
      role="button"
      tabIndex={isStop ? 0 : -1}
      aria-label={densityWords(lane)}
      data-lane={index}
      data-item={0}
      transform={`translate(0 ${TOP})`}
    >
      <rect className="gantt-density-room" width={scale.width} height={HEIGHT} />
      <path className="gantt-density-waiting" d={drawn.waiting} />
      <path className="gantt-density-working" d={drawn.working} />
      {drawn.errors.map((one, at) => (
        <rect
          key={at}
          className="gantt-density-errors"
          x={one.x}
          y={HEIGHT - one.height}
          width={one.width}
          height={one.height}
        />
      ))}
    </g>
  );
}
