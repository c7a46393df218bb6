// The document a run is pinned to: it never changes.

import { useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../../api/client";
import type { RunDocument } from "../../../api/types";
import { runPath } from "../useRun";

export function useDocument(run: string): UseQueryResult<RunDocument> {
  return useQuery({
    queryKey: ["run", run, "document"],
    queryFn: ({ signal }) => get<RunDocument>(`${runPath(run)}/document`, {}, signal),
    staleTime: 60_000,
  });
}
