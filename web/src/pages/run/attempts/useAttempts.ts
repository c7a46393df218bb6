// The attempts of a run, page by page, and one with its data. The log of the run says when there is
// something new to ask for: pages of which nothing can change any more are not asked for again.

import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type InfiniteData,
} from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";

import { get } from "../../../api/client";
import type { AttemptPage, AttemptShown, AttemptWhole } from "../../../api/types";

const PAGE_ATTEMPTS = 200;
// One task visit lies within so many events, as far as it is looked for.
const NEAR_EVENTS = 3_000;
const NEAR_ATTEMPTS = 1_000;

export interface AttemptFilter {
  step: string | null;
  task: string | null;
  status: string | null;
  /** Only those that began after this event. */
  since: number;
}

export interface AttemptsKnown {
  attempts: AttemptShown[];
  isLoading: boolean;
  error: Error | null;
  hasMore: boolean;
  more: () => void;
}

function attemptsPath(run: string): string {
  return `/api/v1/runs/${encodeURIComponent(run)}/attempts`;
}

export function useAttempts(run: string, filter: AttemptFilter, events: number): AttemptsKnown {
  const client = useQueryClient();
  const { since, ...wanted } = filter;
  const key = ["run", run, "attempts", wanted.step, wanted.task, wanted.status, since];
  const read = useRef(0);
  const newest = useRef(events);
  useEffect(() => {
    newest.current = events;
  }, [events]);
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: since,
    queryFn: async ({ pageParam, signal }) => {
      if (pageParam === since) read.current = newest.current;
      const held = heldPage(client.getQueryData(key), pageParam);
      if (held !== undefined && wanted.status === null && isSettled(held)) return held;
      const asked = { ...wanted, after: pageParam, limit: PAGE_ATTEMPTS };
      return get<AttemptPage>(attemptsPath(run), asked, signal);
    },
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  });
  const { refetch, isFetching, fetchNextPage, hasNextPage } = query;
  useEffect(() => {
    if (!isFetching && read.current < events) void refetch();
  }, [events, isFetching, refetch]);
  const pages = query.data?.pages;
  return {
    attempts: useMemo(() => pages?.flatMap((page) => page.attempts) ?? [], [pages]),
    isLoading: query.data === undefined && query.error === null,
    error: query.error,
    hasMore: hasNextPage,
    more: () => void (hasNextPage && !isFetching && fetchNextPage()),
  };
}

type Held = InfiniteData<AttemptPage, number> | undefined;

function heldPage(data: Held, after: number): AttemptPage | undefined {
  const at = data?.pageParams.indexOf(after) ?? -1;
  return data?.pages[at];
}

function isSettled(page: AttemptPage): boolean {
  return page.next !== null && page.attempts.every((one) => one.status !== "working");
}

/** One attempt with its data; what is at work is asked for again when something happens. */
export function useAttempt(run: string, seq: number | null, events: number) {
  const query = useQuery({
    queryKey: ["run", run, "attempt", seq],
    queryFn: ({ signal }) => get<AttemptWhole>(`${attemptsPath(run)}/${seq}`, {}, signal),
    enabled: seq !== null,
    staleTime: Infinity,
  });
  const { refetch } = query;
  const isOpen = query.data?.status === "working";
  useEffect(() => {
    if (isOpen) void refetch({ cancelRefetch: false });
  }, [events, isOpen, refetch]);
  return query;
}

/** All attempts of the task visit that this one belongs to, in order, itself included. */
export function useKin(run: string, of: AttemptShown | undefined, events: number): AttemptShown[] {
  const place = [of?.step, of?.task, of?.idempotency_key];
  const query = useQuery({
    queryKey: ["run", run, "kin", ...place, events],
    queryFn: ({ signal }) => {
      const after = Math.max(0, (of?.seq ?? 0) - NEAR_EVENTS);
      const asked = { step: of?.step, task: of?.task, after, limit: NEAR_ATTEMPTS };
      return get<AttemptPage>(attemptsPath(run), asked, signal);
    },
    enabled: of !== undefined,
    placeholderData: keepPreviousData,
  });
  if (of === undefined) return [];
  const kin = query.data?.attempts.filter((one) => one.idempotency_key === of.idempotency_key);
  return kin?.some((one) => one.seq === of.seq) ? kin : [of];
}
