// How many runs are in each state; a click shows only those.

import type { ReactNode } from "react";

import type { RunFacets, State } from "../../api/types";
import { ShapeIcon } from "../../parts/Mark";
import { STATES } from "../../words/states";
import { counted } from "../../words/time";
import { STATE_ORDER } from "./filter";

// Side by side there is room for a word.
const SHORT: { [state in State]?: string } = {
  person: "person",
  signal: "signal",
  parked: "timer",
};

interface FacetsProps {
  facets: RunFacets | undefined;
  chosen: readonly State[];
  onChange: (chosen: readonly State[]) => void;
}

export function Facets({ facets, chosen, onChange }: FacetsProps): ReactNode {
  const toggle = (state: State): void => {
    const others = chosen.filter((one) => one !== state);
    onChange(others.length === chosen.length ? [...chosen, state] : others);
  };
  return (
    <div className="runs-facets" role="group" aria-label="States">
      <button
        type="button"
        className="runs-facet"
        aria-pressed={chosen.length === 0}
        onClick={() => onChange([])}
      >
        <strong>{countText(facets?.total)}</strong> <span>all</span>
      </button>
      {STATE_ORDER.map((state) => (
        <Facet
          key={state}
          state={state}
          count={facets?.states[state]}
          isChosen={chosen.includes(state)}
          onToggle={() => toggle(state)}
        />
      ))}
    </div>
  );
}

interface FacetProps {
  state: State;
  count: number | undefined;
  isChosen: boolean;
  onToggle: () => void;
}

function Facet({ state, count, isChosen, onToggle }: FacetProps): ReactNode {
  const look = STATES[state];
  const short = SHORT[state];
  return (
    <button
      type="button"
      className={`runs-facet${count === 0 ? " is-none" : ""}`}
      aria-pressed={isChosen}
      title={`${look.word}: ${count === undefined ? "not counted yet" : counted(count, "run")}. ${look.means}`}
      onClick={onToggle}
    >
      <strong>
        <span className={`runs-facet-shape tone-${look.tone}`}>
          <ShapeIcon shape={look.shape} />
        </span>
        {countText(count)}
      </strong>{" "}
      <span>{short ?? look.word}</span>
      {short !== undefined && <span className="visually-hidden">, {look.word}</span>}
    </button>
  );
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const WHOLE_MAX = 99_999;

/** `12,015`, and where there is no room for that, `128K`. */
export function countText(count: number | undefined): string {
  if (count === undefined) return "–";
  return count > WHOLE_MAX ? COMPACT.format(count) : count.toLocaleString("en");
}
