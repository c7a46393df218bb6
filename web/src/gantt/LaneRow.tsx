// One lane: the step and how it stands, and beside it its bars over time.

import { memo, useMemo, type ReactNode } from "react";

import type { LaneShown } from "../api/types";
import { ShapeIcon } from "../parts/Mark";
import { STEP_STATES } from "../words/states";
import { counted } from "../words/time";
import { drawnBars, isWork, type DrawnBar } from "./bars";
import { DensityPlot } from "./DensityPlot";
import { fillOf } from "./Patterns";
import type { Scale } from "./scale";
import { barWords, laneWords, loopText } from "./words";

export const LANE_HEIGHT = 34;
const WORK_HEIGHT = 18;
const WAIT_HEIGHT = 12;
const NUMBER_PIXELS = 20;
const REACH_PIXELS = 12;
const INDENT_MAX = 6;

interface LaneRowProps {
  lane: LaneShown;
  index: number;
  scale: Scale;
  /** The moment that open bars reach. */
  end: number;
  isSelected: boolean;
  /** Which part of it the Tab key reaches: -1 is its name, null none. */
  stop: number | null;
}

export const LaneRow = memo(function LaneRow(props: LaneRowProps): ReactNode {
  const { lane, index, scale, end, isSelected, stop } = props;
  const bars = useMemo(() => drawnBars(lane.bars, scale, end), [lane.bars, scale, end]);
  return (
    <div
      role="row"
      className={isSelected ? "gantt-row gantt-selected" : "gantt-row"}
      aria-rowindex={index + 1}
      aria-selected={isSelected}
    >
      <div role="rowheader" className="gantt-head">
        <LaneName lane={lane} index={index} isStop={stop === -1} />
      </div>
      <div role="gridcell" className="gantt-plot">
        <svg width={scale.width} height={LANE_HEIGHT}>
          {lane.density ? (
            <DensityPlot lane={lane} index={index} scale={scale} isStop={stop === 0} />
          ) : (
            <>
              {bars.map((bar, item) => (
                <LaneBar key={item} bar={bar} lane={index} item={item} isStop={stop === item} />
              ))}
              {bars.map((bar, item) => (
                <Reach key={item} bar={bar} lane={index} item={item} />
              ))}
            </>
          )}
        </svg>
      </div>
    </div>
  );
});

interface LaneNameProps {
  lane: LaneShown;
  index: number;
  isStop: boolean;
}

function LaneName({ lane, index, isStop }: LaneNameProps): ReactNode {
  const look = STEP_STATES[lane.status];
  const loop = loopText(lane);
  const indent = { paddingLeft: 6 + 12 * Math.min(lane.depth, INDENT_MAX) };
  return (
    <button
      type="button"
      className="gantt-name"
      style={indent}
      data-lane={index}
      data-item={-1}
      tabIndex={isStop ? 0 : -1}
      aria-label={laneWords(lane)}
      title={`${lane.step}: ${look.word}`}
    >
      <span className={`gantt-mark gantt-tone-${look.tone}`}>
        <ShapeIcon shape={look.shape} />
      </span>
      <span className="gantt-words">
        <span className="gantt-step">{lane.step}</span>{" "}
        {loop !== null && <span className="gantt-counts">{loop}</span>}
      </span>{" "}
      {loop === null && lane.attempts > 1 && (
        <span className="gantt-counts" title={counted(lane.attempts, "attempt")}>
          {lane.attempts.toLocaleString("en")}
          <span className="gantt-unit"> attempts</span>
        </span>
      )}
    </button>
  );
}

interface LaneBarProps {
  bar: DrawnBar;
  lane: number;
  item: number;
  isStop: boolean;
}

function LaneBar({ bar, lane, item, isStop }: LaneBarProps): ReactNode {
  const height = isWork(bar.kind) ? WORK_HEIGHT : WAIT_HEIGHT;
  const y = (LANE_HEIGHT - height) / 2;
  const { attempt, is_open: isOpen } = bar.bar;
  const hasNumber = isWork(bar.kind) && bar.count === 1 && attempt !== null;
  return (
    <g
      className={`gantt-bar gantt-kind-${bar.kind}${isOpen ? " gantt-open" : ""}`}
      role="button"
      tabIndex={isStop ? 0 : -1}
      aria-label={barWords(bar)}
      data-lane={lane}
      data-item={item}
    >
      <rect x={bar.x} y={y} width={bar.width} height={height} rx={2} fill={fillOf(bar.kind)} />
      {bar.kind === "error" && bar.width > 6 && (
        <path className="gantt-notch" d={`M${bar.x + bar.width} ${y}v${height}`} />
      )}
      {hasNumber && bar.width >= NUMBER_PIXELS && (
        <text x={Math.max(bar.x, 0) + 5} y={LANE_HEIGHT / 2} dominantBaseline="central">
          {attempt}
        </text>
      )}
    </g>
  );
}

/** A short attempt is as easy to hit as a long one. */
function Reach({ bar, lane, item }: { bar: DrawnBar; lane: number; item: number }): ReactNode {
  if (!isWork(bar.kind) || bar.width >= REACH_PIXELS) return null;
  return (
    <rect
      className="gantt-reach"
      aria-hidden="true"
      data-lane={lane}
      data-item={item}
      x={bar.x + (bar.width - REACH_PIXELS) / 2}
      width={REACH_PIXELS}
      height={LANE_HEIGHT}
    />
  );
}
