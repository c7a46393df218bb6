// The sum behind a delay on one line, and until when; who did not wait for it; why there is no
// further attempt.

import type { ReactNode } from "react";

import type { AttemptShown, DelayShown } from "../../../api/types";
import { At, Countdown, useNow } from "../../../parts/Time";
import { exactSeconds, exhaustedWords, skippedWords } from "./delayWords";

// The server's clock may be as far from ours.
const CLOCK_SKEW_MS = 86_400_000;

/** Whether there is anything to show of an attempt here. */
export function hasDecision({ delay, skipped, exhausted }: AttemptShown): boolean {
  return delay !== null || skipped !== null || exhausted !== null;
}

export function Decision({ attempt }: { attempt: AttemptShown }): ReactNode {
  const { delay } = attempt;
  const spent = exhaustedWords(attempt);
  const skipped = skippedWords(attempt);
  if (!hasDecision(attempt)) return <span className="soft">–</span>;
  return (
    <span className="attempts-decision">
      {spent !== null && <strong>{spent}</strong>}
      {spent !== null && delay !== null && " · "}
      {delay !== null && <Delay of={delay} isOver={skipped !== null} />}
      {(spent !== null || delay !== null) && skipped !== null && " · "}
      {skipped !== null && <strong>{skipped}</strong>}
    </span>
  );
}

function Delay({ of, isOver }: { of: DelayShown; isOver: boolean }): ReactNode {
  return (
    <>
      <strong>{exactSeconds(of.delay_seconds)}</strong>: {of.text}
      {!isOver && (
        <>
          , <Due at={of.not_before} />
        </>
      )}
    </>
  );
}

function Due({ at }: { at: string }): ReactNode {
  return (
    <>
      due <At at={at} />
      {/* What is long past needs no clock. */}
      {Date.parse(at) > Date.now() - CLOCK_SKEW_MS && <Left until={at} />}
    </>
  );
}

function Left({ until }: { until: string }): ReactNode {
  if (Date.parse(until) <= useNow()) return null;
  return (
    <>
      {" "}
      (in <Countdown until={until} />)
    </>
  );
}
