// Everything the page of a run knows: its picture as of now and as of the moment looked at, and its
// log. The stream of the log says when there is a newer picture to ask for.

import {
  keepPreviousData,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { ApiProblem, get } from "../../api/client";
import type { StreamState } from "../../api/stream";
import type { EventPage, EventRow, RunPicture, Status } from "../../api/types";
import { noteServerTime } from "../../parts/Time";
import { EventLog, type EventLogState } from "./eventLog";

// A picture is asked for at most this often while events arrive.
const PICTURE_MS = 400;
// Children, workers and leases change without an event of this run.
const GLANCE_MS = 15_000;
// A picture of the past never changes; it is kept for a while, for whoever goes back and forth.
const PAST_KEPT_MS = 30_000;

const ENDED: readonly Status[] = ["done", "failed", "cancelled"];

export function hasEnded(status: Status): boolean {
  return ENDED.includes(status);
}

export function runPath(run: string): string {
  return `/api/v1/runs/${encodeURIComponent(run)}`;
}

export interface RunKnown {
  /** As of now, whatever moment is looked at. */
  live: RunPicture | undefined;
  /** As of the moment looked at; while it is on its way, what was shown before. */
  shown: RunPicture | undefined;
  error: Error | null;
  log: EventLogState;
  /** The number of the newest event that is known. */
  newest: number;
  /** What is shown is not what was asked for yet. */
  isBehind: boolean;
  refresh: () => void;
}

export function useRun(run: string, at: number | null, wantsWholeLog: boolean): RunKnown {
  const live = useLivePicture(run);
  const log = useEventLog(run, live.data?.events ?? null, wantsWholeLog);
  const heard = log.rows.at(-1)?.seq ?? 0;
  usePictureOfNews(live, heard);
  useBackAgain(run, log.state);
  const past = usePastPicture(run, at);
  const error = at === null ? live.error : (past.error ?? live.error);
  return {
    live: live.data,
    shown: at === null ? live.data : (past.data ?? live.data),
    error,
    log,
    newest: Math.max(live.data?.events ?? 0, heard),
    isBehind: at !== null && past.data?.at !== at,
    refresh: () => void live.refetch(),
  };
}

function useLivePicture(run: string): UseQueryResult<RunPicture> {
  return useQuery({
    queryKey: ["run", run, null],
    queryFn: async ({ signal }) => {
      const picture = await get<RunPicture>(`${runPath(run)}/picture`, {}, signal);
      noteServerTime(picture.now);
      return picture;
    },
    refetchInterval: ({ state }) =>
      state.error instanceof ApiProblem || (state.data && hasEnded(state.data.status))
        ? false
        : GLANCE_MS,
  });
}

function usePastPicture(run: string, at: number | null): UseQueryResult<RunPicture> {
  return useQuery({
    // None: the picture of now has the key with null.
    queryKey: ["run", run, at ?? "none"],
    queryFn: ({ signal }) => get<RunPicture>(`${runPath(run)}/picture`, { at }, signal),
    enabled: at !== null,
    staleTime: Infinity,
    gcTime: PAST_KEPT_MS,
    placeholderData: keepPreviousData,
  });
}

/** Ask for a new picture when the log has got ahead of it, and not more often than it is useful. */
function usePictureOfNews(live: UseQueryResult<RunPicture>, heard: number): void {
  const asked = useRef(0);
  const drawn = live.data?.events ?? 0;
  const { refetch, dataUpdatedAt } = live;
  useEffect(() => {
    if (heard <= drawn) return;
    const wait = Math.max(0, asked.current + PICTURE_MS - Date.now());
    const timer = setTimeout(() => {
      asked.current = Date.now();
      void refetch({ cancelRefetch: false });
    }, wait);
    return () => clearTimeout(timer);
  }, [heard, drawn, dataUpdatedAt, refetch]);
}

/** A server that is back is asked at once: what failed while it was away does not stay so. */
function useBackAgain(run: string, stream: StreamState): void {
  const client = useQueryClient();
  const wasBroken = useRef(false);
  useEffect(() => {
    const isBack = wasBroken.current && stream !== "broken";
    wasBroken.current = stream === "broken";
    if (isBack) void client.invalidateQueries({ queryKey: ["run", run] });
  }, [client, run, stream]);
}

function useEventLog(run: string, newest: number | null, wantsWhole: boolean): EventLogState {
  const [log] = useState(() => new EventLog(run));
  // Only the first picture says where to begin: after that the stream knows.
  const [begin, setBegin] = useState<number | null>(null);
  if (begin === null && newest !== null) setBegin(newest);
  useEffect(() => (begin === null ? undefined : log.follow(begin)), [log, begin]);
  useEffect(
    () => (begin !== null && wantsWhole ? log.complete() : undefined),
    [log, begin, wantsWhole],
  );
  return useSyncExternalStore(log.subscribe, log.snapshot);
}

/** One event: of the log where it is there already, else asked for. */
export function useEvent(run: string, log: EventLogState, seq: number | null) {
  const first = log.rows[0]?.seq ?? Infinity;
  const held: EventRow | undefined = seq === null ? undefined : log.rows[seq - first];
  const asked = useQuery({
    queryKey: ["run", run, "event", seq],
    queryFn: async ({ signal }) => {
      const query = { after: (seq ?? 1) - 1, limit: 1 };
      const page = await get<EventPage>(`${runPath(run)}/events`, query, signal);
      return page.events[0] ?? null;
    },
    enabled: seq !== null && held === undefined,
    staleTime: Infinity,
    gcTime: PAST_KEPT_MS,
  });
  return held ?? asked.data ?? undefined;
}
