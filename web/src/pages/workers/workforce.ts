// Who works and how much waits, asked for every few seconds while somebody looks.

import { useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../api/client";
import type { WorkersShown } from "../../api/types";
import { noteServerTime } from "../../parts/Time";

// Workers say that they are there every 10 seconds.
const ASK_MS = 5_000;

export function useWorkforce(): UseQueryResult<WorkersShown> {
  return useQuery({
    queryKey: ["workers"],
    queryFn: async ({ signal }) => {
      const found = await get<WorkersShown>("/api/v1/workers", {}, signal);
      noteServerTime(found.now);
      return found;
    },
    refetchInterval: ASK_MS,
  });
}
