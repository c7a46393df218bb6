// Where to look at a graph: all of it where that can be read, else the step that matters.

import type { GraphShown, NodeShown } from "../api/types";
import type { Layout, Place } from "./layout";

export const ZOOM_MIN = 0.08;
// Names can just be read: small, but all at once. A part of the whole is shown larger.
const WHOLE_ZOOM_MIN = 0.6;
export const READABLE_ZOOM = 0.75;
const MARGIN = 12;
const URGENT = ["failed", "retrying", "polling", "waiting", "running", "scheduled"] as const;

export interface View {
  x: number;
  y: number;
  zoom: number;
}

export interface Canvas {
  width: number;
  height: number;
}

export function wholeView(layout: Layout, canvas: Canvas): View {
  const across = (canvas.width - 2 * MARGIN) / layout.width;
  const down = (canvas.height - 2 * MARGIN) / layout.height;
  const zoom = Math.max(ZOOM_MIN, Math.min(1, across, down));
  return {
    zoom,
    x: (canvas.width - layout.width * zoom) / 2,
    y: (canvas.height - layout.height * zoom) / 2,
  };
}

/** The whole where it can be read; else as much as can be, around the step that matters. */
export function firstView(layout: Layout, canvas: Canvas, place: Place | null): View {
  const whole = wholeView(layout, canvas);
  if (whole.zoom >= WHOLE_ZOOM_MIN || place === null) return whole;
  const across = Math.min(1, (canvas.width - 2 * MARGIN) / layout.width);
  const zoom = across >= WHOLE_ZOOM_MIN ? across : READABLE_ZOOM;
  const view = viewOn(place, canvas, zoom);
  return {
    zoom,
    x: kept(view.x, canvas.width, layout.width * zoom),
    y: kept(view.y, canvas.height, layout.height * zoom),
  };
}

/** No empty space beside what could be shown. */
function kept(offset: number, room: number, length: number): number {
  if (length <= room) return (room - length) / 2;
  return Math.min(MARGIN, Math.max(room - length - MARGIN, offset));
}

export function viewOn(place: Place, canvas: Canvas, zoom: number): View {
  return {
    zoom,
    x: canvas.width / 2 - (place.x + place.width / 2) * zoom,
    y: canvas.height / 2 - (place.y + place.height / 2) * zoom,
  };
}

export function isInSight(place: Place, view: View, canvas: Canvas): boolean {
  const left = place.x * view.zoom + view.x;
  const top = place.y * view.zoom + view.y;
  return (
    left >= 0 &&
    top >= 0 &&
    left + place.width * view.zoom <= canvas.width &&
    top + place.height * view.zoom <= canvas.height
  );
}

export function placeThatMatters(
  layout: Layout,
  graph: GraphShown,
  selected: string | null,
): Place | null {
  const chosen = graph.nodes.find((node) => node.name === selected);
  const name = (chosen ?? urgent(graph.nodes) ?? graph.nodes.find((node) => node.is_entry))?.name;
  return layout.places.get(name ?? "") ?? null;
}

function urgent(nodes: readonly NodeShown[]): NodeShown | undefined {
  for (const status of URGENT) {
    const found = nodes.find((node) => node.status === status);
    if (found) return found;
  }
  return undefined;
}
