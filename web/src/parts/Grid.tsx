// A table of any length: only the rows in sight are made. Arrow keys, j and k move between rows.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useMemo, useRef, type KeyboardEvent, type ReactNode } from "react";

import { useFollowing } from "./useFollowing";

export interface Column<Row> {
  id: string;
  name: ReactNode;
  /** A track of a CSS grid: `90px`, `minmax(120px, 1fr)`. */
  width: string;
  cell: (row: Row, index: number) => ReactNode;
  isNumber?: boolean;
}

interface GridProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row, index: number) => string;
  rowHeight?: number;
  /** Of the part that scrolls: a CSS length. */
  height: string;
  minWidth?: string;
  selected?: string | null | undefined;
  onOpen?: (row: Row) => void;
  /** The end is in sight: there may be more. */
  onEnd?: () => void;
  /** The first and the last row in sight. */
  onRange?: (first: number, last: number) => void;
  /** Stay at the end while rows come, unless someone scrolled up. */
  followsEnd?: boolean;
  /** The key of a row to bring into sight, once it is there. */
  reveals?: string | null;
  empty?: ReactNode;
}

const NEAR_END_ROWS = 20;
const MOVES: { [key: string]: number } = {
  ArrowDown: 1,
  ArrowUp: -1,
  j: 1,
  k: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

/** Whether what was clicked does something by itself: a link or a box in a row. */
function hasOwnClick(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, label") !== null;
}

export function Grid<Row>(props: GridProps<Row>): ReactNode {
  const { columns, rows, rowHeight = 40, selected } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    // Server rendering and tests have no layout; a screenful then is for it.
    initialRect: { width: 1000, height: 600 },
    onChange: (one) => {
      const last = one.getVirtualItems().at(-1)?.index ?? 0;
      if (rows.length && last >= rows.length - NEAR_END_ROWS) props.onEnd?.();
      if (one.range) props.onRange?.(one.range.startIndex, one.range.endIndex);
    },
  });
  // A turned phone has rows of another height; where they stood is kept until that is known.
  useLayoutEffect(() => virtual.measure(), [virtual, rowHeight]);
  const { rowKey } = props;
  const keys = useMemo(() => {
    const [first] = rows;
    return {
      first: first === undefined ? undefined : rowKey(first, 0),
      indexOf: (key: string) => rows.findIndex((row, at) => rowKey(row, at) === key),
    };
    // A key is the same whichever function makes it.
  }, [rows]);
  const scrolled = useFollowing({
    scroll,
    keys,
    rowHeight,
    isOn: props.followsEnd ?? false,
    reveals: props.reveals ?? null,
    show: (index) => virtual.scrollToIndex(index),
  });
  const tracks = { gridTemplateColumns: columns.map((column) => column.width).join(" ") };
  const move = (event: KeyboardEvent<HTMLElement>, index: number): void => {
    if (event.target !== event.currentTarget) return;
    const row = rows[index];
    if (event.key === "Enter" && row !== undefined) return props.onOpen?.(row);
    const by = MOVES[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(index + by, 0), rows.length - 1);
    virtual.scrollToIndex(next);
    const rowAt = () => scroll.current?.querySelector<HTMLElement>(`[data-index="${next}"]`);
    const near = rowAt();
    // Keys may come faster than frames; only a row that is not made yet has to be waited for.
    if (near) near.focus({ preventScroll: true });
    else requestAnimationFrame(() => rowAt()?.focus());
  };
  const seen = virtual.getVirtualItems();
  const first =
    selected == null ? -1 : rows.findIndex((row, at) => props.rowKey(row, at) === selected);
  const entry = first >= 0 ? first : (seen[0]?.index ?? 0);
  return (
    <div
      ref={scroll}
      className="table-scroll grid-table"
      role="table"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      style={{ height: props.height }}
      onScroll={scrolled}
      tabIndex={rows.length === 0 ? 0 : -1}
    >
      <div style={{ minWidth: props.minWidth }}>
        <div className="grid-head" role="row" aria-rowindex={1} style={tracks}>
          {columns.map((column) => (
            <span
              key={column.id}
              role="columnheader"
              className={column.isNumber ? "number" : undefined}
            >
              {column.name}
            </span>
          ))}
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {seen.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const key = props.rowKey(row, item.index);
            return (
              <div
                key={key}
                role="row"
                className="grid-row"
                data-index={item.index}
                aria-rowindex={item.index + 2}
                aria-selected={key === selected}
                tabIndex={item.index === entry ? 0 : -1}
                style={{ ...tracks, height: rowHeight, transform: `translateY(${item.start}px)` }}
                onKeyDown={(event) => move(event, item.index)}
                onClick={(event) => !hasOwnClick(event.target) && props.onOpen?.(row)}
              >
                {columns.map((column) => (
                  <span
                    key={column.id}
                    role="cell"
                    className={column.isNumber ? "number" : undefined}
                  >
                    {column.cell(row, item.index)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
        {rows.length === 0 && props.empty}
      </div>
    </div>
  );
}
