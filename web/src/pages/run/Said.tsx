// What an action came to. It takes the focus: the button that was pressed may be gone by now.

import { useEffect, useRef, type ReactNode } from "react";

import { Notice } from "../../parts/Notice";

/** Another one each time, even where the words are the same. */
export interface Told {
  words: ReactNode;
}

export function Said({ told, onClose }: { told: Told; onClose: () => void }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), [told]);
  return (
    <div ref={box} tabIndex={-1} role="group" aria-label="What was done" className="run-said">
      <Notice tone="good">
        {told.words}{" "}
        <button type="button" className="plain" onClick={onClose}>
          Close
        </button>
      </Notice>
    </div>
  );
}
