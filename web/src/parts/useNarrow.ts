// Whether there is room for columns.

import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 760px)";

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = globalThis.matchMedia?.(NARROW);
      media?.addEventListener("change", listener);
      return () => media?.removeEventListener("change", listener);
    },
    () => globalThis.matchMedia?.(NARROW).matches ?? false,
  );
}
