// What the Failures page asks the server.

import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../api/client";
import type { FailureGroup, FailureGroups } from "../../api/types";
import type { Filter } from "../runs/filter";

export const ORDERS = [
  ["", "newest first"],
  ["most", "most first"],
] as const;

// More than these nobody reads down to.
const GROUPS_MAX = 100;

export interface FailuresAsked {
  since: string | null;
  program: string | null;
}

export function useFailures({ since, program }: FailuresAsked): UseQueryResult<FailureGroups> {
  return useQuery({
    queryKey: ["failures", since, program],
    queryFn: ({ signal }) =>
      get<FailureGroups>("/api/v1/failures", { since, program, limit: GROUPS_MAX }, signal),
    placeholderData: keepPreviousData,
  });
}

/** The server has the group that failed last at the top. */
export function ordered(groups: readonly FailureGroup[], order: string): readonly FailureGroup[] {
  return order === "most" ? groups.toSorted((one, other) => other.count - one.count) : groups;
}

/** The runs of a group, whenever they began: `since` of the groups is about their end. */
export function runsOf(fingerprint: string, program: string | null): Filter {
  const filter: Filter = { state: ["failed", "dead"], label: [], fingerprint };
  return program === null ? filter : { ...filter, program };
}
