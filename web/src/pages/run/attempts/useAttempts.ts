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
import { untilThere, useNews, useReading } from "./news";

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
  more: () => void;
}

function attemptsPath(run: string): string {
  return `/api/v1/runs/${encodeURIComponent(run)}/attempts`;
}

export function useAttempts(run: string, filter: AttemptFilter, events: number): AttemptsKnown {
  const client = useQueryClient();
  const { since, ...wanted } = filter;
  const key = ["run", run, "attempts", wanted.step, wanted.task, wanted.status, since];
  const reading = useReading(events);
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: since,
    queryFn: async ({ pageParam, signal }) => {
      if (pageParam === since) reading.begin();
      const held = heldPage(client.getQueryData(key), pageParam);
      if (held !== undefined && wanted.status === null && isSettled(held)) return held;
      const asked = { ...wanted, after: pageParam, limit: PAGE_ATTEMPTS };
      return get<AttemptPage>(attemptsPath(run), asked, signal);
    },
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => untilThere(state.error),
  });
  useNews(reading, query, { events, isWanted: true });
  const more = useMore(query);
  const pages = query.data?.pages;
  return {
    attempts: useMemo(() => pages?.flatMap((page) => page.attempts) ?? [], [pages]),
    isLoading: pages === undefined && query.error === null,
    // What was shown last is still worth looking at.
    error: pages === undefined ? query.error : null,
    more,
  };
}

interface Paged {
  isFetching: boolean;
  hasNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** Ask for the next page; where an answer is on its way, once it is here. */
function useMore({ isFetching, hasNextPage, fetchNextPage }: Paged): () => void {
  const isWanted = useRef(false);
  const ask = (): void => {
    if (!isWanted.current || isFetching || !hasNextPage) return;
    isWanted.current = false;
    fetchNextPage();
  };
  useEffect(ask);
  return () => {
    isWanted.current = true;
    ask();
  };
}

type Held = InfiniteData<AttemptPage, number> | undefined;

function heldPage(data: Held, after: number): AttemptPage | undefined {
  const at = data?.pageParams.indexOf(after) ?? -1;
  return data?.pages[at];
}

function isSettled(page: AttemptPage): boolean {
  return page.next !== null && !page.attempts.some(mayChange);
}

/** One that is at work, or whose wait someone can still end. */
function mayChange({ status, delay, skipped }: AttemptShown): boolean {
  const isWaiting = delay !== null && skipped === null;
  return status === "working" || (isWaiting && Date.parse(delay.not_before) > Date.now());
}

/** One attempt with its data; what may change is asked for again when something happens. */
export function useAttempt(run: string, seq: number | null, events: number) {
  const reading = useReading(events);
  const query = useQuery({
    queryKey: ["run", run, "attempt", seq],
    queryFn: ({ signal }) => {
      reading.begin();
      return get<AttemptWhole>(`${attemptsPath(run)}/${seq}`, {}, signal);
    },
    enabled: seq !== null,
    staleTime: Infinity,
    refetchInterval: ({ state }) => untilThere(state.error),
  });
  const isWanted = query.data !== undefined && mayChange(query.data);
  useNews(reading, query, { events, isWanted });
  return query;
}

/** All attempts of the task visit that this one belongs to, in order, itself included. */
export function useKin(run: string, of: AttemptShown | undefined, events: number): AttemptShown[] {
  const reading = useReading(events);
  const query = useQuery({
    queryKey: ["run", run, "kin", of?.step, of?.task, of?.seq],
    queryFn: ({ signal }) => {
      reading.begin();
      const after = Math.max(0, (of?.seq ?? 0) - NEAR_EVENTS);
      const asked = { step: of?.step, task: of?.task, after, limit: NEAR_ATTEMPTS };
      return get<AttemptPage>(attemptsPath(run), asked, signal);
    },
    enabled: of !== undefined,
  });
  useNews(reading, query, { events, isWanted: of !== undefined });
  if (of === undefined) return [];
  const kin = query.data?.attempts.filter((one) => one.idempotency_key === of.idempotency_key);
  return kin?.some((one) => one.seq === of.seq) ? kin : [of];
}
