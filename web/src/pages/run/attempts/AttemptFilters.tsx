// Which attempts are listed: by task, by how they came out, and from where on in a long log.

import type { ReactNode } from "react";

import type { AttemptShown } from "../../../api/types";
import { STATUSES } from "./attemptWords";

interface AttemptFiltersProps {
  attempts: readonly AttemptShown[];
  words: URLSearchParams;
  change: (changes: { [name: string]: string | null }) => void;
  since: number;
  onSince: (since: number) => void;
}

export function AttemptFilters(props: AttemptFiltersProps): ReactNode {
  const { words, change, since } = props;
  const task = words.get("task");
  const named = new Set(props.attempts.map((attempt) => attempt.task));
  if (task !== null) named.add(task);
  return (
    <div className="row small" role="group" aria-label="Which attempts">
      <Choice
        name="Task"
        all="all tasks"
        value={task}
        options={[...named].toSorted().map((name) => [name, name])}
        onChange={(value) => change({ task: value })}
      />
      <Choice
        name="Outcome"
        all="all outcomes"
        value={words.get("outcome")}
        options={STATUSES}
        onChange={(value) => change({ outcome: value })}
      />
      {since > 0 && (
        <span className="soft">
          After event {since.toLocaleString("en")}.{" "}
          <button type="button" className="plain" onClick={() => props.onSince(0)}>
            From the start
          </button>
        </span>
      )}
    </div>
  );
}

interface ChoiceProps {
  name: string;
  all: string;
  value: string | null;
  options: readonly (readonly [string, string])[];
  onChange: (value: string | null) => void;
}

function Choice({ name, all, value, options, onChange }: ChoiceProps): ReactNode {
  return (
    <label className="row attempts-choice">
      <span className="soft">{name}</span>
      <select value={value ?? ""} onChange={(event) => onChange(event.target.value || null)}>
        <option value="">{all}</option>
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
