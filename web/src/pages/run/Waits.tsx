// Each step-run that is at something, and the way to end what it waits for.

import { useState, type ReactNode } from "react";

import type { RunPicture, WaitShown } from "../../api/types";
import { Mark } from "../../parts/Mark";
import { DOING } from "../../words/states";
import { place } from "./Kin";
import type { Show } from "./shown";
import { Sentence } from "./Verdict";

const WAITS_AT_FIRST = 5;

interface WaitsProps {
  picture: RunPicture;
  isPast: boolean;
  show: Show;
  onSkip: (wait: WaitShown) => void;
}

/** A list where there are several; one alone is what the verdict shows. */
export function Waits({ picture, isPast, show, onSkip }: WaitsProps): ReactNode {
  const { waits, more_waits } = picture;
  const [isWhole, setWhole] = useState(false);
  if (waits.length + more_waits < 2) return null;
  const shown = isWhole ? waits : waits.slice(0, WAITS_AT_FIRST);
  const left = waits.length - shown.length;
  return (
    <ul className="run-waits" aria-label="What each step-run is at">
      {shown.map((wait) => (
        <li key={waitKey(wait)}>
          <WaitLine wait={wait} now={isPast ? picture.now : null} show={show} onSkip={onSkip} />
        </li>
      ))}
      {left > 0 && (
        <li>
          <button type="button" className="plain" onClick={() => setWhole(true)}>
            {left.toLocaleString("en")} more
          </button>
        </li>
      )}
      {more_waits > 0 && (left === 0 || isWhole) && (
        <li className="soft">and {more_waits.toLocaleString("en")} more step-runs</li>
      )}
    </ul>
  );
}

export function waitKey(wait: WaitShown): string {
  return `${wait.step}/${wait.visit}/${wait.iteration ?? ""}`;
}

/** `Run now` starts something; a sleep is only ended. */
export function skipWord(wait: WaitShown): string {
  return wait.doing === "sleep" ? "Skip wait" : "Run now";
}

interface WaitLineProps {
  wait: WaitShown;
  now: string | null;
  show: Show;
  onSkip: (wait: WaitShown) => void;
}

export function WaitLine({ wait, now, show, onSkip }: WaitLineProps): ReactNode {
  const name = place(wait.step, wait.iteration);
  return (
    <div className="run-wait">
      <Mark look={DOING[wait.doing]} word={name} />
      <span className="run-wait-words">
        <Sentence
          verdict={wait}
          now={now}
          lines={new Set([wait.rule?.line ?? null])}
          pointTo={(line) => show({ tab: "source", line })}
        />
      </span>
      {/* What is past cannot be acted on. */}
      {wait.can_skip && now === null && (
        <button
          type="button"
          className="small"
          aria-label={`${skipWord(wait)}: ${name}`}
          onClick={() => onSkip(wait)}
        >
          {skipWord(wait)}
        </button>
      )}
    </div>
  );
}
