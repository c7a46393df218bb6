// What the Failures page asks the server.

import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../api/client";
import type { FailureGroup, FailureGroups } from "../../api/types";
import type { Filter } from "../runs/filter";

export const RETRIED = [
  ["", "left out"],
  ["true", "shown, too"],
] as const;
export const ORDERS = [
  ["", "newest first"],
  ["most", "most first"],
] as const;

// More than these nobody reads down to.
const GROUPS_MAX = 100;

export interface FailuresAsked {
  since: string | null;
  program: string | null;
  /** Also runs that were retried. */
  isWhole: boolean;
}

export function useFailures(asked: FailuresAsked): UseQueryResult<FailureGroups> {
  const { since, program } = asked;
  const retried = asked.isWhole ? "true" : null;
  return useQuery({
    queryKey: ["failures", since, program, retried],
    queryFn: ({ signal }) =>
      get<FailureGroups>(
        "/api/v1/failures",
        { since, program, retried, limit: GROUPS_MAX },
        signal,
      ),
    placeholderData: keepPreviousData,
  });
}

/** The server has the group that failed last at the top. */
export function ordered(groups: readonly FailureGroup[], order: string): readonly FailureGroup[] {
  return order === "most" ? groups.toSorted((one, other) => other.count - one.count) : groups;
}

/** The runs of a group, whenever they began: `since` of the groups is about their end. */
export function runsOf(fingerprint: string, { program, isWhole }: FailuresAsked): Filter {
  const filter: Filter = { state: ["failed", "dead"], label: [], fingerprint };
  const left: Filter = isWhole ? filter : { ...filter, retried: "false" };
  return program === null ? left : { ...left, program };
}
