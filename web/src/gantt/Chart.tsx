// The lanes themselves: only those in sight are made, so that hundreds of them stay smooth.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useId, useMemo, useRef, type FocusEvent, type ReactNode } from "react";

import type { LaneShown, LanesShown } from "../api/types";
import { Axis, AXIS_HEIGHT, Rulers } from "./Axis";
import { drawnBars } from "./bars";
import { Cursor } from "./Cursor";
import { LANE_HEIGHT, LaneRow } from "./LaneRow";
import { between, type Span } from "./scale";
import { Tip } from "./Tip";
import { usePointing } from "./usePointing";
import { spotOf, useRover, type Spot } from "./useRover";
import { useTip } from "./useTip";
import { useWidth } from "./useWidth";

interface ChartProps {
  lanes: LanesShown;
  /** How far the run is. */
  end: number;
  isLive: boolean;
  span: Span;
  whole: Span;
  look: (span: Span | null) => void;
  selected: string | null;
  onSelect: (step: string | null) => void;
  onAttempt: (step: string, attempt: number, visit: number) => void;
}

const HEIGHT_MAX = 460;
const NARROW_PIXELS = 620;
// As --gantt-name of gantt.css.
const NAME_PIXELS = 240;
const NAME_PIXELS_NARROW = 124;
const ASSUMED_WIDTH = 1_000;

export function Chart(props: ChartProps): ReactNode {
  const { end, span, whole, look, selected } = props;
  const lanes = props.lanes.lanes;
  const hint = useId();
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  const width = useWidth(scroll, ASSUMED_WIDTH);
  const isNarrow = width < NARROW_PIXELS;
  const nameWidth = isNarrow ? NAME_PIXELS_NARROW : NAME_PIXELS;
  const { from, to } = span;
  const scale = useMemo(
    () => ({ span: { from, to }, width: Math.max(60, width - nameWidth) }),
    [from, to, width, nameWidth],
  );
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => LANE_HEIGHT,
    overscan: 6,
    scrollPaddingStart: AXIS_HEIGHT,
    initialRect: { width: ASSUMED_WIDTH, height: HEIGHT_MAX },
  });
  const barsOf = (lane: LaneShown | undefined) => drawnBars(lane?.bars ?? [], scale, end);
  const open = ({ lane: index, item }: Spot): void => {
    const lane = lanes[index];
    if (lane === undefined) return;
    const bar = item < 0 ? undefined : barsOf(lane)[item];
    if (bar === undefined) return props.onSelect(lane.step === selected ? null : lane.step);
    if (bar.count > 1) return look(between(bar.begin, bar.end, whole));
    if (bar.bar.attempt !== null) props.onAttempt(lane.step, bar.bar.attempt, bar.bar.visit);
    else props.onSelect(lane.step);
  };
  const rover = useRover({
    rows,
    lanes: lanes.length,
    items: (index) => (lanes[index]?.density ? 1 : barsOf(lanes[index]).length),
    scrollTo: (index) => virtual.scrollToIndex(index),
    onOpen: open,
  });
  const pointing = usePointing({ rows, nameWidth, scale, whole, look });
  const tip = useTip({ scroll, nameWidth, scale });
  const { tipped } = tip;
  const tippedLane = tipped ? lanes[tipped.lane] : undefined;
  return (
    <div className={isNarrow ? "gantt-chart gantt-narrow" : "gantt-chart"}>
      <div className="gantt-scroll" ref={scroll} style={{ maxHeight: HEIGHT_MAX }}>
        <Axis scale={scale} />
        <div
          ref={rows}
          className="gantt-rows"
          role="grid"
          aria-label="Lanes; arrow keys go from bar to bar, Enter opens an attempt"
          aria-rowcount={lanes.length}
          aria-describedby={hint}
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={(event) => {
            if (event.key === "Escape") tip.clear();
            rover.onKeyDown(event);
          }}
          onFocus={(event: FocusEvent) => {
            const found = spotOf(event.target);
            if (found) rover.setStop(found.spot);
            if (event.target.matches(":focus-visible")) tip.point(event.target, null);
          }}
          onBlur={tip.clear}
          onPointerDown={pointing.onPointerDown}
          onPointerMove={(event) => {
            pointing.onPointerMove(event);
            tip.point(event.target, event.clientX);
          }}
          onPointerUp={pointing.onPointerUp}
          onPointerLeave={() => {
            pointing.onPointerLeave();
            tip.clear();
          }}
          onClick={(event) => {
            const found = spotOf(event.target);
            if (found && !pointing.wasDrag()) open(found.spot);
          }}
        >
          <Rulers scale={scale} />
          {virtual.getVirtualItems().map((item) => {
            const lane = lanes[item.index];
            if (lane === undefined) return null;
            const isOpen = lane.bars.some((bar) => bar.is_open);
            return (
              <div
                key={lane.step}
                role="presentation"
                className="gantt-place"
                style={{ transform: `translateY(${item.start}px)`, height: LANE_HEIGHT }}
              >
                <LaneRow
                  lane={lane}
                  index={item.index}
                  scale={scale}
                  end={isOpen ? end : 0}
                  isSelected={lane.step === selected}
                  stop={rover.stop.lane === item.index ? rover.stop.item : null}
                />
              </div>
            );
          })}
          <Cursor
            scale={scale}
            begin={props.lanes.begin}
            cursor={pointing.cursor}
            dragged={pointing.dragged}
            now={props.isLive ? end : null}
          />
        </div>
      </div>
      {tipped && tippedLane && (
        <Tip
          tipped={tipped}
          lane={tippedLane}
          bar={barsOf(tippedLane)[tipped.item]}
          begin={props.lanes.begin}
          width={width}
        />
      )}
      <p id={hint} className="gantt-hint small soft">
        Drag over a time range to zoom in, or hold Ctrl and turn the wheel.
      </p>
    </div>
  );
}
