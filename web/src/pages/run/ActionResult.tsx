// What an action came to. It takes the focus: the button that was pressed may be gone by now.

import { useEffect, useRef, type ReactNode } from "react";

import { Notice } from "../../parts/Notice";

/** Another one each time, even where the words are the same. */
export interface ActionText {
  words: ReactNode;
}

export function ActionResult({
  result,
  onClose,
}: {
  result: ActionText;
  onClose: () => void;
}): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), [result]);
  return (
    <div ref={box} tabIndex={-1} role="group" aria-label="What was done" className="run-said">
      <Notice tone="good">
        {result.words}{" "}
        <button type="button" className="plain" onClick={onClose}>
          Close
        </button>
      </Notice>
    </div>
  );
}
