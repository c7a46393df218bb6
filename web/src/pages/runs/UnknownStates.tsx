// A link may ask for a state that there is not: it is said, rather than shown as all runs.

import type { ReactNode } from "react";

import { Notice } from "../../parts/Notice";
import { STATE_ORDER } from "./filter";

interface UnknownStatesProps {
  words: readonly string[];
  onRemove: () => void;
}

export function UnknownStates({ words, onRemove }: UnknownStatesProps): ReactNode {
  if (words.length === 0) return null;
  return (
    <Notice tone="late">
      There is no state {words.join(", ")}, so the list is not narrowed by it. The states are{" "}
      {STATE_ORDER.join(", ")}.{" "}
      <button type="button" className="plain" onClick={onRemove}>
        Take it out of the address
      </button>
    </Notice>
  );
}
