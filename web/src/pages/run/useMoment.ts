// The moment looked at, while it is being moved: what moves follows at once, the address and the
// picture once it has stood still. A browser takes few changes of its address a second.

import { useEffect, useState } from "react";

const STILL_MS = 120;

export function useMoment(
  at: number | null,
  settle: (at: number | null) => void,
): [number | null, (at: number | null) => void] {
  const [moved, setMoved] = useState<{ to: number | null } | null>(null);
  useEffect(() => {
    if (moved === null) return;
    const timer = setTimeout(() => {
      settle(moved.to);
      setMoved(null);
    }, STILL_MS);
    return () => clearTimeout(timer);
    // `settle` is another function at each drawing, and does the same.
  }, [moved]);
  return [moved === null ? at : moved.to, (to) => setMoved({ to })];
}
