// Why the run did what it did, in paragraphs.

import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../../api/client";
import type { Explanation, ParagraphRow, RunPicture } from "../../../api/types";
import { hasEnded, runPath } from "../useRun";

// It is made of the whole log: asked for now and then, not for each event.
const AGAIN_MS = 5_000;

export function useExplanation(
  picture: RunPicture,
  step: string | null,
): UseQueryResult<Explanation> {
  const { run, status } = picture;
  return useQuery({
    queryKey: ["run", run, "explanation", step, hasEnded(status)],
    queryFn: ({ signal }) => get<Explanation>(`${runPath(run)}/explanation`, { step }, signal),
    refetchInterval: hasEnded(status) ? false : AGAIN_MS,
    placeholderData: keepPreviousData,
  });
}

/** What could be said at an event; what has no event is about now. */
export function asOf(found: readonly ParagraphRow[], at: number | null): readonly ParagraphRow[] {
  if (at === null) return found;
  return found.filter((paragraph) => paragraph.seq !== null && paragraph.seq <= at);
}
