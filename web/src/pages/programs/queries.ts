// What the pages of programs ask the server.

import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  type UseQueryResult,
} from "@tanstack/react-query";

import { get } from "../../api/client";
import type {
  CoverageShown,
  ProgramList,
  ProgramRow,
  ProgramShown,
  RunFacets,
  VersionPage,
} from "../../api/types";
import { noteServerTime } from "../../parts/Time";

// Counting the runs of a program is work: a list that is looked at again has them for a while.
const COUNTS_KEPT_MS = 10_000;
export const VERSIONS_SHOWN = 50;

export function programPath(name: string): string {
  return `/api/v1/programs/${encodeURIComponent(name)}`;
}

export function programAddress(
  name: string,
  words: { [word: string]: string | number | null } = {},
): string {
  const said = new URLSearchParams();
  for (const [word, value] of Object.entries(words)) {
    if (value !== null) said.set(word, String(value));
  }
  const text = said.toString();
  return `/programs/${encodeURIComponent(name)}${text ? `?${text}` : ""}`;
}

export function usePrograms(): UseQueryResult<ProgramRow[]> {
  return useQuery({
    queryKey: ["programs", "list"],
    queryFn: async ({ signal }) =>
      (await get<ProgramList>("/api/v1/programs", {}, signal)).programs,
    placeholderData: keepPreviousData,
  });
}

/** One version with its document; the newest when none is named. */
export function useProgram(name: string, version: number | null): UseQueryResult<ProgramShown> {
  return useQuery({
    queryKey: ["programs", "one", name, version],
    queryFn: ({ signal }) => get<ProgramShown>(programPath(name), { version }, signal),
    // A version never changes; which one is the newest does.
    staleTime: version === null ? 1_000 : Infinity,
  });
}

export function useVersions(name: string) {
  return useInfiniteQuery({
    queryKey: ["programs", "versions", name],
    queryFn: ({ pageParam, signal }) =>
      get<VersionPage>(
        `${programPath(name)}/versions`,
        { before: pageParam, limit: VERSIONS_SHOWN },
        signal,
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next,
  });
}

export function useCounts(program: string): UseQueryResult<RunFacets> {
  return useQuery({
    queryKey: ["programs", "counts", program],
    queryFn: async ({ signal }) => {
      const facets = await get<RunFacets>("/api/v1/runs/facets", { program }, signal);
      noteServerTime(facets.now);
      return facets;
    },
    staleTime: COUNTS_KEPT_MS,
    placeholderData: keepPreviousData,
  });
}

export function useCoverage(name: string, version: number): UseQueryResult<CoverageShown> {
  return useQuery({
    queryKey: ["programs", "coverage", name, version],
    queryFn: ({ signal }) =>
      get<CoverageShown>(`${programPath(name)}/coverage`, { version }, signal),
    placeholderData: keepPreviousData,
  });
}
