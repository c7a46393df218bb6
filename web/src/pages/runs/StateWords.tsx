// What each state means, for whoever cannot hover over its word.

import { useState, type ReactNode } from "react";

import { StateMark } from "../../parts/Mark";
import { STATES } from "../../words/states";
import { STATE_ORDER } from "./filter";

export function StateWords(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="runs-words small">
      <button
        type="button"
        className="plain"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        What the states mean
      </button>
      {isOpen && (
        <dl className="facts sheet">
          {STATE_ORDER.map((state) => (
            <div key={state}>
              <dt>
                <StateMark state={state} />
              </dt>
              <dd>{STATES[state].means}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
