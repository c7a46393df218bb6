// One line of text that goes into the log: a name, a reason.

import type { ReactNode } from "react";

// A column of the log, as long as the server takes it.
const LINE_CHARACTERS = 256;

interface LogFieldProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
}

export function LogField({ label, value, onChange }: LogFieldProps): ReactNode {
  return (
    <label className="field">
      {label}
      <input
        value={value}
        maxLength={LINE_CHARACTERS}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
