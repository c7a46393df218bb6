// One value of the workload, asked for as what it is.

import { useId, type ReactNode } from "react";

import type { WorkloadField } from "../../../api/types";

interface FieldInputProps {
  field: WorkloadField;
  typed: string | boolean;
  wrong: string | undefined;
  isChanged: boolean;
  onChange: (typed: string | boolean) => void;
}

const ROWS_MAX = 12;

export function FieldInput({ field, typed, wrong, ...props }: FieldInputProps): ReactNode {
  const { isChanged, onChange } = props;
  const [input, note] = [useId(), useId()];
  const same = { id: input, "aria-describedby": note, "aria-invalid": wrong !== undefined };
  const text = String(typed);
  const isLong = field.type === "object" || field.type === "array" || text.includes("\n");
  return (
    <div className="programs-field">
      <label htmlFor={input}>
        <code>{field.name}</code>
      </label>
      {typeof typed === "boolean" ? (
        <input
          {...same}
          type="checkbox"
          checked={typed}
          onChange={(event) => onChange(event.target.checked)}
        />
      ) : isLong ? (
        <textarea
          {...same}
          className="mono"
          spellCheck={false}
          rows={Math.min(text.split("\n").length + 1, ROWS_MAX)}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...same}
          type="text"
          inputMode={field.type === "number" ? "decimal" : "text"}
          placeholder={field.type === "null" ? "no value: text or JSON" : ""}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <span id={note} className={wrong === undefined ? "small soft" : "small programs-wrong"}>
        {wrong ?? (isChanged ? "changed" : WORDS[field.type])}
      </span>
    </div>
  );
}

const WORDS: { [type in WorkloadField["type"]]: string } = {
  string: "text",
  number: "number",
  boolean: "yes or no",
  object: "a JSON object",
  array: "a JSON list",
  null: "the document gives no value",
};
