// Two sorts of refusal: a run that cannot be changed, and one that was retried before. The second is
// no trouble: the run goes on already, as another.

import type { BulkDone, RunText } from "../../../api/types";

export type Refusal = BulkDone["refused"][number];

export interface Repeat {
  run: RunText;
  /** The run that was begun when it was retried. */
  retriedAs: RunText;
}

// The server says it in words only.
const RETRIED_BEFORE = /^it was retried before, as run (\d+)$/;

export function sorted(refused: readonly Refusal[]): { refusals: Refusal[]; repeats: Repeat[] } {
  const refusals: Refusal[] = [];
  const repeats: Repeat[] = [];
  for (const one of refused) {
    const retriedAs = RETRIED_BEFORE.exec(one.detail)?.[1];
    if (retriedAs === undefined) refusals.push(one);
    else repeats.push({ run: one.run, retriedAs });
  }
  return { refusals, repeats };
}
