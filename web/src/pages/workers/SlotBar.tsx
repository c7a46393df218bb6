// How many slots are in use: as numbers, and as a bar.

import type { ReactNode } from "react";

export function SlotBar({ busy, slots }: { busy: number; slots: number }): ReactNode {
  const part = slots === 0 ? 0 : Math.min(busy / slots, 1);
  return (
    <span className="workers-slots">
      <span className="workers-slots-said">
        {busy.toLocaleString("en")} of {slots.toLocaleString("en")}
      </span>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="8" className="workers-bar" />
        <rect width={100 * part} height="8" className={part === 1 ? "is-full" : "is-used"} />
      </svg>
    </span>
  );
}
