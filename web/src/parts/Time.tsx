// Time that moves: a countdown by the server's clock, and moments shown by how long ago they are.

import { useSyncExternalStore, type ReactNode } from "react";

import { clock, distance, moment } from "../words/time";

const TICK_MS = 250;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let tick = Date.now();
let skew = 0;

/** How far this machine's clock is from the server's; a countdown shall not be wrong by that. */
export function noteServerTime(now: string): void {
  skew = Date.parse(now) - Date.now();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Nobody looked at the clock for a while: it stands where the last one left it.
  if (timer === undefined) tick = Date.now();
  timer ??= setInterval(() => {
    tick = Date.now();
    for (const one of listeners) one();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Milliseconds since 1970 by the server's clock, some times a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => tick) + skew;
}

/** `0:41`; `now` once it is due. */
export function Countdown({ until }: { until: string }): ReactNode {
  const left = (Date.parse(until) - useNow()) / 1000;
  return (
    <time className="countdown" dateTime={until} title={moment(until)}>
      {left > 0 ? clock(left) : "now"}
    </time>
  );
}

export function Ago({ at }: { at: string }): ReactNode {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {distance(at, useNow())}
    </time>
  );
}

export function At({ at }: { at: string }): ReactNode {
  return (
    <time dateTime={at} title={at}>
      {moment(at)}
    </time>
  );
}
