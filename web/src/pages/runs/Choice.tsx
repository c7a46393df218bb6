// One of some values.

import type { ReactNode } from "react";

interface ChoiceProps {
  name: string;
  choices: readonly (readonly [string, string])[];
  value: string;
  onChange: (value: string) => void;
}

/** A value that came with the address and is none of them is shown as it is. */
export function Choice({ name, choices, value, onChange }: ChoiceProps): ReactNode {
  const isKnown = choices.some(([word]) => word === value);
  return (
    <label className="field">
      {name}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map(([word, said]) => (
          <option key={word} value={word}>
            {said}
          </option>
        ))}
        {!isKnown && <option value={value}>{value.includes("T") ? "chosen range" : value}</option>}
      </select>
    </label>
  );
}
