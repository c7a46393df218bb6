// A program, of those that have runs.

import type { ReactNode } from "react";

import { NameAsked } from "./NameAsked";

interface ProgramAskedProps {
  value: string;
  programs: readonly string[];
  onChange: (program: string) => void;
}

export function ProgramAsked({ value, programs, onChange }: ProgramAskedProps): ReactNode {
  return (
    <NameAsked
      name="Program"
      className="runs-program"
      value={value}
      known={programs}
      onChange={onChange}
    />
  );
}
