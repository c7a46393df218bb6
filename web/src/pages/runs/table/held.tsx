// Changes that would move what people read, held back until they ask for them.

import { useState, type ReactNode } from "react";

import type { RunChanges, RunText } from "../../../api/types";
import { counted } from "../../../words/time";

export interface Held {
  runs: ReadonlySet<RunText>;
  isAll: boolean;
}

const NOTHING_HELD: Held = { runs: new Set(), isAll: false };

/** What is held back for the list of this name. */
export function useHeld(list: string): [Held, (changes: RunChanges) => void, () => void] {
  const [kept, setKept] = useState({ list, held: NOTHING_HELD });
  const held = kept.list === list ? kept.held : NOTHING_HELD;
  const hold = (changes: RunChanges): void => {
    const runs = new Set([...held.runs, ...changes.runs]);
    setKept({ list, held: { runs, isAll: held.isAll || changes.is_all } });
  };
  return [held, hold, () => setKept({ list, held: NOTHING_HELD })];
}

export function HeldNews({ held, onShow }: { held: Held; onShow: () => void }): ReactNode {
  const { runs, isAll } = held;
  if (runs.size === 0 && !isAll) return null;
  const said = isAll ? "Many runs are" : counted(runs.size, "run is", "runs are");
  return (
    <p className="runs-news" role="status">
      {said} newer or changed.{" "}
      <button type="button" className="small" onClick={onShow}>
        Show
      </button>
    </p>
  );
}
