// Which runs people have ticked: some, or whatever the filter means.

import type { RunListed, RunText } from "../../../api/types";

export interface Choice {
  runs: ReadonlySet<RunText>;
  isAll: boolean;
}

export const NOTHING: Choice = { runs: new Set(), isAll: false };
export const EVERY_MATCH: Choice = { runs: new Set(), isAll: true };

export function isEmpty(choice: Choice): boolean {
  return !choice.isAll && choice.runs.size === 0;
}

/** One run ticked or not. Whoever unticks one of all means those in sight, without it. */
export function toggled(choice: Choice, run: RunText, inSight: readonly RunText[]): Choice {
  const runs = new Set(choice.isAll ? inSight : choice.runs);
  if (!runs.delete(run)) runs.add(run);
  return { runs, isAll: false };
}

/** All rows in sight ticked; none when they were. */
export function allToggled(choice: Choice, inSight: readonly RunText[]): Choice {
  const areTicked = choice.isAll || inSight.every((run) => choice.runs.has(run));
  return areTicked ? NOTHING : { runs: new Set([...choice.runs, ...inSight]), isAll: false };
}

export function here(rows: readonly (RunListed | null)[]): RunText[] {
  return rows.filter((row) => row !== null).map((row) => row.run);
}
