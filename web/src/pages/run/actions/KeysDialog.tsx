// The keys of the page of a run.

import type { ReactNode } from "react";

import { Dialog } from "../../../parts/Dialog";

const KEYS = [
  ["r", "run now: end what the run waits for"],
  ["p", "pause the run, or resume it"],
  ["[ and ]", "one event back, one event on"],
  ["n", "back to now"],
  ["1 to 8", "the tabs, from Overview to Test"],
  ["j and k", "rows of a table, when one has the focus"],
  ["/", "search in the events"],
  ["Escape", "close a box"],
  ["?", "this list"],
] as const;

export function KeysDialog({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="facts">
        {KEYS.map(([key, does]) => (
          <div key={key} className="run-key">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
