// Until when an answer is waited for, and what happens without one.

import type { ReactNode } from "react";

import { ShapeIcon } from "../../parts/Mark";
import { Countdown, useNow } from "../../parts/Time";

const SOON_MS = 5 * 60_000;

interface DeadlineProps {
  deadline: string | null;
  silence: string | null;
}

export function Deadline({ deadline, silence }: DeadlineProps): ReactNode {
  if (deadline === null) return <p className="people-deadline soft">No deadline</p>;
  return <Until deadline={deadline} silence={silence ?? "decides automatically"} />;
}

function Until({ deadline, silence }: { deadline: string; silence: string }): ReactNode {
  const left = Date.parse(deadline) - useNow();
  const isOver = left <= 0;
  return (
    <p className={`people-deadline${left < SOON_MS ? " is-soon" : ""}`}>
      <ShapeIcon shape="clock" />
      <span>
        {isOver ? (
          "Its time is over"
        ) : (
          <>
            <Countdown until={deadline} /> left
          </>
        )}
        <span className="people-silence">
          {isOver ? "the step" : "then the step"} {silence}
        </span>
      </span>
    </p>
  );
}
