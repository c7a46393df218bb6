// Lengths of time as of the moment looked at: moving where that is now, standing still in the past.

import type { ReactNode } from "react";

import { useNow } from "../../parts/Time";
import { clock, duration, moment } from "../../words/time";

interface AsOf {
  /** The moment looked at; null: now. */
  now: string | null;
}

function useSecondsTo(at: string, now: string | null): number {
  const live = useNow();
  return (Date.parse(at) - (now === null ? live : Date.parse(now))) / 1000;
}

/** How long something has lasted. */
export function Elapsed({ since, now }: AsOf & { since: string }): ReactNode {
  const seconds = -useSecondsTo(since, now);
  return (
    <time dateTime={since} title={`since ${moment(since)}`} className="run-clock">
      {seconds < 60 ? duration(Math.floor(Math.max(0, seconds))) : duration(seconds)}
    </time>
  );
}

/** ` in 0:41`; `, due now` once it is. */
export function Due({ until, now }: AsOf & { until: string }): ReactNode {
  const seconds = useSecondsTo(until, now);
  if (seconds <= 0) return <span className="run-clock">, due now</span>;
  return (
    <>
      {" in "}
      <time dateTime={until} title={moment(until)} className="run-clock">
        {clock(seconds)}
      </time>
    </>
  );
}
