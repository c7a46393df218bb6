// When to ask again: once the log has more events than when the answer was asked for. Nothing is
// asked twice at a time, and nothing that happens while an answer is on its way is missed.

import { useEffect, useRef } from "react";

import { Unreachable } from "../../../api/client";

const AGAIN_MS = 4_000;

export interface Reading {
  /** An answer is asked for now. */
  begin: () => void;
  isBehind: () => boolean;
}

export function useReading(events: number): Reading {
  const newest = useRef(events);
  const read = useRef(0);
  useEffect(() => {
    newest.current = events;
  }, [events]);
  const reading = useRef<Reading>({
    begin: () => {
      read.current = newest.current;
    },
    isBehind: () => read.current < newest.current,
  });
  return reading.current;
}

interface Asking {
  isFetching: boolean;
  refetch: () => unknown;
}

interface News {
  events: number;
  isWanted: boolean;
}

export function useNews(reading: Reading, query: Asking, { events, isWanted }: News): void {
  const { isFetching, refetch } = query;
  useEffect(() => {
    if (isWanted && !isFetching && reading.isBehind()) refetch();
  }, [reading, events, isWanted, isFetching, refetch]);
}

/** How long until a server that could not be reached is asked again. */
export function untilThere(error: Error | null): number | false {
  return error instanceof Unreachable ? AGAIN_MS : false;
}
