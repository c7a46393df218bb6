// Which bar is shown about: the one under the pointer, or the one that has the focus.

import { useState, type RefObject } from "react";

import { secondsAt, type Scale } from "./scale";
import type { Tipped } from "./Tip";
import { spotOf } from "./useRover";

interface TipAsked {
  scroll: RefObject<HTMLElement | null>;
  nameWidth: number;
  scale: Scale;
}

export interface Tipping {
  tipped: Tipped | null;
  /** `clientX` is where the pointer is; null for the focus. */
  point: (target: EventTarget, clientX: number | null) => void;
  clear: () => void;
}

export function useTip({ scroll, nameWidth, scale }: TipAsked): Tipping {
  const [tipped, setTipped] = useState<Tipped | null>(null);
  const point = (target: EventTarget, clientX: number | null): void => {
    const found = spotOf(target);
    const frame = scroll.current?.getBoundingClientRect();
    if (found === null || found.spot.item < 0 || frame === undefined) return setTipped(null);
    const box = found.element.getBoundingClientRect();
    const x = (clientX ?? Math.max(box.left, frame.left + nameWidth)) - frame.left;
    const at = clientX === null ? null : secondsAt(scale, x - nameWidth);
    setTipped({ ...found.spot, x, y: box.bottom - frame.top + 6, at });
  };
  return { tipped, point, clear: () => setTipped(null) };
}
