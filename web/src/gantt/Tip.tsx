// What the pointer or the focus is on, in words.

import type { ReactNode } from "react";

import type { LaneShown } from "../api/types";
import { BARS } from "../words/states";
import { counted, duration, moment } from "../words/time";
import type { DrawnBar } from "./bars";
import { sliceAt } from "./density";
import { attemptWords } from "./words";

/** Where it points, in the chart. */
export interface Tipped {
  lane: number;
  item: number;
  x: number;
  y: number;
  /** The moment under the pointer. */
  at: number | null;
}

interface TipProps {
  tipped: Tipped;
  lane: LaneShown;
  bar: DrawnBar | undefined;
  begin: string;
  width: number;
}

export function Tip({ tipped, lane, bar, begin, width }: TipProps): ReactNode {
  const side = tipped.x > width / 2 ? { right: width - tipped.x } : { left: tipped.x };
  return (
    <div className="gantt-tip" role="tooltip" style={{ ...side, top: tipped.y }}>
      <strong>{lane.step}</strong>
      {lane.density ? (
        <SliceText lane={lane} at={tipped.at} />
      ) : (
        bar && <BarText bar={bar} begin={begin} />
      )}
    </div>
  );
}

export function momentAfter(begin: string, seconds: number): string {
  return moment(new Date(Date.parse(begin) + seconds * 1000).toISOString());
}

function BarText({ bar, begin }: { bar: DrawnBar; begin: string }): ReactNode {
  const { attempt, task, visit, is_open: isOpen } = bar.bar;
  return (
    <>
      <div>
        {bar.count > 1 && `${bar.count} × `}
        {BARS[bar.kind]}
      </div>
      {bar.count === 1 && (
        <div className="gantt-tip-soft">
          {[task, attempt !== null && attemptWords(bar), visit > 1 && `visit ${visit}`]
            .filter(Boolean)
            .join(" · ")}
        </div>
      )}
      <div className="gantt-tip-soft">
        {momentAfter(begin, bar.begin)}, {duration(bar.begin)} after the start
      </div>
      <div>
        {duration(bar.end - bar.begin)}
        {isOpen && " so far"}
      </div>
      {bar.count > 1 && <div className="gantt-tip-soft">Enter or click: zoom in</div>}
    </>
  );
}

function SliceText({ lane, at }: { lane: LaneShown; at: number | null }): ReactNode {
  const slice = lane.density && at !== null ? sliceAt(lane.density, at) : null;
  if (slice === null) return <div>{counted(lane.attempts, "attempt")}</div>;
  return (
    <>
      <div className="gantt-tip-soft">
        {duration(slice.begin)} to {duration(slice.end)} after the start
      </div>
      <div>{slice.working.toFixed(1)} running</div>
      <div>{slice.waiting.toFixed(1)} waiting</div>
      <div>{counted(slice.errors, "error")}</div>
    </>
  );
}
