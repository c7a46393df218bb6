// Two sorts of refusal: a run that cannot be changed, and one that was retried before. The second is
// no trouble: the run goes on already, as another.

import type { BulkRefused, RunText } from "../../../api/types";

export interface Repeat {
  run: RunText;
  /** The run that was started when it was retried. */
  retriedAs: RunText;
}

export function sorted(refused: readonly BulkRefused[]): {
  refusals: BulkRefused[];
  repeats: Repeat[];
} {
  const refusals: BulkRefused[] = [];
  const repeats: Repeat[] = [];
  for (const one of refused) {
    if (one.retried_as === null) refusals.push(one);
    else repeats.push({ run: one.run, retriedAs: one.retried_as });
  }
  return { refusals, repeats };
}
