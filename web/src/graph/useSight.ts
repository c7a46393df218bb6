// What of the graph is in sight, and how that changes: by buttons, by keys, with the window.

import { useReactFlow } from "@xyflow/react";
import { useCallback, useEffect, useRef, type RefObject } from "react";

import type { GraphShown } from "../api/types";
import type { Layout } from "./layout";
import {
  firstView,
  isInSight,
  placeThatMatters,
  READABLE_ZOOM,
  viewOn,
  wholeView,
  type Canvas,
  type View,
} from "./views";

const GLIDE_MS = 180;

export interface Sight {
  canvas: RefObject<HTMLDivElement | null>;
  onInit: () => void;
  fit: () => void;
  find: () => void;
  show: (step: string) => void;
}

export function useSight(layout: Layout, graph: GraphShown, selected: string | null): Sight {
  const flow = useReactFlow();
  const canvas = useRef<HTMLDivElement>(null);
  const known = useRef({ graph, selected });
  useEffect(() => {
    known.current = { graph, selected };
  });
  const size = useCallback((): Canvas => {
    const { clientWidth = 0, clientHeight = 0 } = canvas.current ?? {};
    return { width: clientWidth, height: clientHeight };
  }, []);
  const look = useCallback(
    (view: View): void => void flow.setViewport(view, { duration: glide() }),
    [flow],
  );
  const fit = useCallback(() => look(wholeView(layout, size())), [layout, look, size]);
  const find = useCallback(() => {
    const place = placeThatMatters(layout, known.current.graph, known.current.selected);
    if (place) look(viewOn(place, size(), Math.max(READABLE_ZOOM, flow.getZoom())));
  }, [flow, layout, look, size]);
  const first = useCallback(() => {
    const place = placeThatMatters(layout, known.current.graph, known.current.selected);
    void flow.setViewport(firstView(layout, size(), place));
  }, [flow, layout, size]);
  const show = useCallback(
    (step: string) => {
      const place = layout.places.get(step);
      if (place && !isInSight(place, flow.getViewport(), size())) {
        look(viewOn(place, size(), flow.getZoom()));
      }
      // A step out of sight may not be in the page before it is looked at.
      requestAnimationFrame(() => focusOn(canvas.current, step));
    },
    [flow, layout, look, size],
  );
  useFirstView(canvas, first);
  return { canvas, onInit: first, fit, find, show };
}

/** Again where the structure, or the width there is, has changed. */
function useFirstView(canvas: RefObject<HTMLDivElement | null>, first: () => void): void {
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    let width = element.clientWidth;
    first();
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== width) first();
      width = element.clientWidth;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [canvas, first]);
}

function focusOn(canvas: HTMLElement | null, step: string): void {
  const steps = canvas?.querySelectorAll<HTMLElement>("[data-hit]") ?? [];
  const found = [...steps].find((element) => element.dataset["hit"] === step);
  found?.focus({ preventScroll: true });
}

function glide(): number {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : GLIDE_MS;
}
