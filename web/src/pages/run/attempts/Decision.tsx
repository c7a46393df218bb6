// The sum behind a delay on one line, and until when; why there is no further attempt.

import type { ReactNode } from "react";

import type { AttemptShown } from "../../../api/types";
import { At, Countdown, useNow } from "../../../parts/Time";
import { exactSeconds, delaySteps, exhaustedWords } from "./delayWords";

// The server's clock may be as far from ours.
const CLOCK_SKEW_MS = 86_400_000;

export function Decision({ attempt }: { attempt: AttemptShown }): ReactNode {
  const { delay } = attempt;
  const spent = exhaustedWords(attempt);
  if (delay === null && spent === null) return <span className="soft">–</span>;
  return (
    <span className="attempts-decision">
      {spent !== null && <strong>{spent}</strong>}
      {spent !== null && delay !== null && " · "}
      {delay !== null && (
        <>
          <strong>{exactSeconds(delay.delay_seconds)}</strong>: {delaySteps(delay).join(" · ")},{" "}
          <Due at={delay.not_before} />
        </>
      )}
    </span>
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
