// How wide a box is, as it changes.

import { useEffect, useState, type RefObject } from "react";

// Until it is laid out, and where nothing is.
const WIDTH = 800;

export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(WIDTH);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => setWidth(element.clientWidth || WIDTH);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
