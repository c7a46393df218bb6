// What the pointer does in the chart: a line at the moment it is on, a stretch that is dragged over,
// the wheel. A finger scrolls, as everywhere; the buttons zoom.

import { useEffect, useRef, useState, type PointerEvent, type RefObject } from "react";

import { between, moved, secondsAt, zoomed, type Scale, type Span } from "./scale";

interface PointingAsked {
  rows: RefObject<HTMLElement | null>;
  /** Of the names before the plot. */
  nameWidth: number;
  scale: Scale;
  whole: Span;
  look: (span: Span | null) => void;
}

export interface Pointing {
  /** A pixel of the plot. */
  cursor: number | null;
  /** Where a drag began. */
  dragged: number | null;
  onPointerDown: (event: PointerEvent) => void;
  onPointerMove: (event: PointerEvent) => void;
  onPointerUp: (event: PointerEvent) => void;
  onPointerLeave: () => void;
  /** Whether the click that comes now ends a drag. */
  wasDrag: () => boolean;
}

// Less is a click.
const DRAG_PIXELS_MIN = 5;
const WHEEL_SPEED = 0.0022;

export function usePointing(asked: PointingAsked): Pointing {
  const { rows, nameWidth, scale, whole, look } = asked;
  const [cursor, setCursor] = useState<number | null>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  const drag = useRef(false);
  useWheel(asked);
  const pixel = (event: PointerEvent): number | null => {
    const left = rows.current?.getBoundingClientRect().left ?? 0;
    const found = event.clientX - left - nameWidth;
    return found >= 0 && found <= scale.width ? found : null;
  };
  return {
    cursor,
    dragged,
    onPointerDown: (event) => {
      drag.current = false;
      if (event.button === 0 && event.pointerType === "mouse") setDragged(pixel(event));
    },
    onPointerMove: (event) => {
      const at = pixel(event);
      setCursor(event.pointerType === "mouse" ? at : null);
      if (dragged !== null && at !== null && Math.abs(at - dragged) >= DRAG_PIXELS_MIN) {
        drag.current = true;
      }
    },
    onPointerUp: (event) => {
      const at = pixel(event);
      if (dragged !== null && at !== null && drag.current) {
        const span = between(secondsAt(scale, dragged), secondsAt(scale, at), whole);
        if (span) look(span);
      }
      setDragged(null);
    },
    onPointerLeave: () => (setCursor(null), setDragged(null)),
    wasDrag: () => drag.current,
  };
}

/** With Ctrl it zooms around the pointer; sideways it moves. */
function useWheel(asked: PointingAsked): void {
  const known = useRef(asked);
  useEffect(() => {
    known.current = asked;
  });
  const { rows } = asked;
  useEffect(() => {
    const element = rows.current;
    if (element === null) return;
    const turn = (event: WheelEvent): void => {
      const { scale, whole, look, nameWidth } = known.current;
      const isZoom = event.ctrlKey || event.metaKey;
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!isZoom && !isSideways) return;
      event.preventDefault();
      if (!isZoom) return look(moved(scale.span, event.deltaX / scale.width, whole));
      const x = event.clientX - element.getBoundingClientRect().left - nameWidth;
      const around = secondsAt(scale, Math.min(Math.max(x, 0), scale.width));
      look(zoomed(scale.span, Math.exp(-event.deltaY * WHEEL_SPEED), around, whole));
    };
    // React's own are passive, and could not keep the page from zooming.
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [rows]);
}
