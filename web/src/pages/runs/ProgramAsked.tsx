// A program, of those that have runs.

import { useId, type ReactNode } from "react";

import { TypedInput } from "./TypedInput";

interface ProgramAskedProps {
  value: string;
  programs: readonly string[];
  onChange: (program: string) => void;
}

export function ProgramAsked({ value, programs, onChange }: ProgramAskedProps): ReactNode {
  const list = useId();
  return (
    <label className="field runs-program">
      Program
      <TypedInput
        isWhole
        value={value}
        choices={programs}
        list={list}
        onChange={onChange}
        placeholder="any"
      />
      <datalist id={list}>
        {programs.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}
