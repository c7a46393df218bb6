// What the shapes mean, and what is to be seen.

import type { ReactNode } from "react";

import type { State } from "../../../api/types";
import { STATES } from "../../../words/states";
import { STATE_ORDER } from "../filter";
import { FILLED, GLYPHS } from "./glyphs";

interface LegendProps {
  counts: ReadonlyMap<State, number>;
  isCut: boolean;
}

export function Legend({ counts, isCut }: LegendProps): ReactNode {
  return (
    <figcaption className="scatter-legend">
      <span>Start × duration{isCut && ", the newest runs"}. Drag to choose a range of time.</span>
      {STATE_ORDER.filter((state) => counts.has(state)).map((state) => (
        <span key={state} className="scatter-key">
          <svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true">
            <path
              d={GLYPHS[state](0, 0)}
              className={`scatter-${STATES[state].tone}${FILLED.has(state) ? " is-filled" : ""}`}
            />
          </svg>
          {STATES[state].word}
        </span>
      ))}
    </figcaption>
  );
}
