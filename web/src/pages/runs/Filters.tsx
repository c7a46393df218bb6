// What narrows the list: all of it is in the address.

import { useRef, useState, type ReactNode } from "react";

import { Chips, LabelAsked } from "./Chips";
import { isEverything, type Filter, type SingleWord } from "./filter";
import { useKeys } from "./keys";
import { Choice } from "./Choice";
import { NameAsked } from "./NameAsked";
import { ProgramAsked } from "./ProgramAsked";
import { useNarrow } from "../../parts/useNarrow";
import { ERROR_KINDS } from "../../words/kinds";
import { TypedInput } from "./TypedInput";

export type Change = (changes: { [word: string]: string | readonly string[] | null }) => void;

interface FiltersProps {
  filter: Filter;
  programs: readonly string[];
  onChange: Change;
  onClear: () => void;
}

const DUE = [
  ["", "any time"],
  ["1m", "1 minute"],
  ["5m", "5 minutes"],
  ["15m", "15 minutes"],
  ["1h", "1 hour"],
  ["1d", "1 day"],
] as const;
const LONGER = [
  ["", "any time"],
  ["10m", "10 minutes"],
  ["1h", "1 hour"],
  ["1d", "1 day"],
] as const;
export const SINCE = [
  ["", "all time"],
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
] as const;

export function Filters({ filter, programs, onChange, onClear }: FiltersProps): ReactNode {
  const search = useRef<HTMLInputElement>(null);
  const isNarrow = useNarrow();
  const [isOpen, setOpen] = useState(false);
  useKeys(["/"], () => search.current?.focus());
  return (
    <div className="runs-filters" role="search" aria-label="Runs">
      <label className="field runs-search">
        Search
        <TypedInput
          ref={search}
          type="search"
          value={filter.text ?? ""}
          onChange={(text) => onChange({ text: text || null })}
          placeholder="run, program, key, label, error"
          title="Press / to search, Escape to leave"
          keys="/"
        />
      </label>
      {isNarrow && (
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Fewer filters" : "More filters"}
        </button>
      )}
      {(isOpen || !isNarrow) && <Fields filter={filter} programs={programs} onChange={onChange} />}
      <button type="button" onClick={onClear} disabled={isEverything(filter)}>
        Clear
      </button>
      <Chips filter={filter} onChange={onChange} />
    </div>
  );
}

function Fields({ filter, programs, onChange }: Omit<FiltersProps, "onClear">): ReactNode {
  const set = (word: SingleWord) => (value: string) => onChange({ [word]: value || null });
  return (
    <>
      <ProgramAsked
        value={filter.program ?? ""}
        programs={programs}
        onChange={(program) => onChange({ program: program || null, version: null })}
      />
      <label className="field runs-number">
        Version
        <TypedInput
          type="number"
          value={filter.version ?? ""}
          onChange={set("version")}
          placeholder="any"
          isDisabled={filter.program === undefined}
          title="Of the program: name one first"
        />
      </label>
      <label className="field runs-number">
        Attempt ≥
        <TypedInput
          type="number"
          value={filter.attempt ?? ""}
          onChange={set("attempt")}
          placeholder="any"
        />
      </label>
      <Choice
        name="Next retry within"
        choices={DUE}
        value={filter.due_within ?? ""}
        onChange={set("due_within")}
      />
      <Choice
        name="Running longer than"
        choices={LONGER}
        value={filter.running_longer_than ?? ""}
        onChange={set("running_longer_than")}
      />
      <NameAsked
        name="Error kind"
        className="runs-kind"
        value={filter.error_kind ?? ""}
        known={ERROR_KINDS}
        onChange={set("error_kind")}
      />
      <label className="field runs-kind">
        Fingerprint
        <TypedInput
          isWhole
          value={filter.fingerprint ?? ""}
          onChange={set("fingerprint")}
          placeholder="any"
          title="Runs that failed alike: Failures shows the fingerprint"
        />
      </label>
      <Choice
        name="Started"
        choices={SINCE}
        value={filter.since ?? ""}
        onChange={(since) => onChange({ since: since || null, until: null })}
      />
      <LabelAsked labels={filter.label} onChange={(label) => onChange({ label })} />
    </>
  );
}
