// Where a growing table is scrolled to: it stays at its end while it grows, unless someone scrolled
// up; what they look at then stays in place, also when rows come in front of it.

import { useLayoutEffect, useRef, type RefObject } from "react";

interface Following {
  scroll: RefObject<HTMLElement | null>;
  keys: { first: string | undefined; indexOf: (key: string) => number };
  rowHeight: number;
  isOn: boolean;
  /** The row to bring into sight, once it is there. */
  reveals: string | null;
  show: (index: number) => void;
}

export function useFollowing({ scroll, keys, rowHeight, isOn, reveals, show }: Following) {
  const isAtEnd = useRef(isOn && reveals === null);
  const first = useRef(keys.first);
  const revealed = useRef<string | null>(null);
  useLayoutEffect(() => {
    const box = scroll.current;
    const before = first.current;
    first.current = keys.first;
    if (box === null || !isOn) return;
    if (isAtEnd.current) box.scrollTop = box.scrollHeight;
    else if (before !== undefined && before !== keys.first) {
      box.scrollTop += Math.max(0, keys.indexOf(before)) * rowHeight;
    }
  }, [scroll, isOn, keys, rowHeight]);
  useLayoutEffect(() => {
    if (reveals === null) revealed.current = null;
    if (reveals === null || reveals === revealed.current) return;
    const index = keys.indexOf(reveals);
    if (index < 0) return;
    revealed.current = reveals;
    show(index);
    // `show` is another function at each drawing, and does the same.
  }, [reveals, keys]);
  return (): void => {
    const box = scroll.current;
    if (box === null) return;
    isAtEnd.current = box.scrollTop + box.clientHeight >= box.scrollHeight - rowHeight;
  };
}
