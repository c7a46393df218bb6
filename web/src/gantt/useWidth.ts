// How wide an element is, as it changes.

import { useLayoutEffect, useState, type RefObject } from "react";

/** `assumed` stands for it where there is no layout. */
export function useWidth(element: RefObject<HTMLElement | null>, assumed: number): number {
  const [width, setWidth] = useState(assumed);
  useLayoutEffect(() => {
    const found = element.current;
    if (found === null) return;
    const measure = (): void => setWidth(found.clientWidth || assumed);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(found);
    return () => observer.disconnect();
  }, [element, assumed]);
  return width;
}
