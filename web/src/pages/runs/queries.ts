// What the Runs page asks the server, apart from the rows: how many there are, and the points.

import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../api/client";
import type { RunFacets, RunPoints } from "../../api/types";
import { noteServerTime } from "../../parts/Time";
import type { Filter } from "./filter";

export function useFacets(filter: Filter): UseQueryResult<RunFacets> {
  // Which states are chosen does not change how many there are of each.
  const stateless = { ...filter, state: [] };
  return useQuery({
    queryKey: ["runs", "facets", stateless],
    queryFn: async ({ signal }) => {
      const facets = await get<RunFacets>("/api/v1/runs/facets", stateless, signal);
      noteServerTime(facets.now);
      return facets;
    },
    placeholderData: keepPreviousData,
  });
}

export function usePoints(filter: Filter): UseQueryResult<RunPoints> {
  return useQuery({
    queryKey: ["runs", "points", filter],
    queryFn: ({ signal }) => get<RunPoints>("/api/v1/runs/points", filter, signal),
    placeholderData: keepPreviousData,
  });
}

/** How many runs the filter means, its states included. */
export function matching(facets: RunFacets, filter: Filter): number {
  if (filter.state.length === 0) return facets.total;
  return filter.state.reduce((sum, state) => sum + facets.states[state], 0);
}
