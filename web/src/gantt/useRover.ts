// How the keyboard goes through the chart: one stop for the Tab key, arrow keys from there.

import { useState, type KeyboardEvent, type RefObject } from "react";

/** A part of the chart: of a lane its name (-1) or one of its bars. */
export interface Spot {
  lane: number;
  item: number;
}

interface RoverAsked {
  rows: RefObject<HTMLElement | null>;
  lanes: number;
  /** How many bars of a lane are drawn. */
  items: (lane: number) => number;
  scrollTo: (lane: number) => void;
  onOpen: (spot: Spot) => void;
}

export interface Rover {
  stop: Spot;
  setStop: (spot: Spot) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

const PAGE_LANES = 10;

export function spotOf(target: EventTarget): { spot: Spot; element: Element } | null {
  const element = target instanceof Element ? target.closest("[data-item]") : null;
  if (element === null) return null;
  const spot = {
    lane: Number(element.getAttribute("data-lane")),
    item: Number(element.getAttribute("data-item")),
  };
  return { spot, element };
}

export function nextSpot(from: Spot, key: string, lanes: number, items: number): Spot | null {
  const { lane, item } = from;
  const last = items - 1;
  const beside: { [key: string]: number } = {
    ArrowRight: item + 1,
    ArrowLeft: item - 1,
    Home: -1,
    End: last,
  };
  const to = beside[key];
  if (to !== undefined) return { lane, item: Math.min(Math.max(to, -1), last) };
  const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: PAGE_LANES, PageUp: -PAGE_LANES }[
    key
  ];
  return by === undefined ? null : { lane: Math.min(Math.max(lane + by, 0), lanes - 1), item };
}

export function useRover(asked: RoverAsked): Rover {
  const [wanted, setStop] = useState<Spot>({ lane: 0, item: -1 });
  const kept = (spot: Spot): Spot => {
    const lane = Math.min(spot.lane, asked.lanes - 1);
    return { lane, item: Math.min(spot.item, asked.items(lane) - 1) };
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const found = spotOf(event.target);
    if (found === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return asked.onOpen(found.spot);
    }
    const next = nextSpot(found.spot, event.key, asked.lanes, asked.items(found.spot.lane));
    if (next === null) return;
    event.preventDefault();
    const to = kept(next);
    setStop(to);
    asked.scrollTo(to.lane);
    // The lane may not be in the page before it is scrolled to.
    requestAnimationFrame(() =>
      asked.rows.current
        ?.querySelector<HTMLElement | SVGElement>(
          `[data-lane="${to.lane}"][data-item="${to.item}"]`,
        )
        ?.focus({ preventScroll: true }),
    );
  };
  return { stop: kept(wanted), setStop, onKeyDown };
}
