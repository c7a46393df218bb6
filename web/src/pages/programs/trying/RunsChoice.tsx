// Which of some runs another policy is tried on.

import type { ReactNode } from "react";

import { Link } from "../../../router";

interface RunsChoiceProps {
  runs: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

export function RunsChoice({ runs, chosen, onChange }: RunsChoiceProps): ReactNode {
  const [only] = runs;
  if (only === undefined) return null;
  if (runs.length === 1) {
    return (
      <p>
        Tried on run <Link to={`/runs/${only}`}>{only}</Link>.
      </p>
    );
  }
  const set = (run: string, isOn: boolean): void =>
    onChange(runs.filter((one) => (one === run ? isOn : chosen.includes(one))));
  return (
    <fieldset className="programs-runs">
      <legend>Tried on these runs</legend>
      {runs.map((run) => (
        <label key={run}>
          <input
            type="checkbox"
            checked={chosen.includes(run)}
            onChange={(event) => set(run, event.target.checked)}
          />
          {run}
        </label>
      ))}
    </fieldset>
  );
}
