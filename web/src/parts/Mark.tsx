// A state as people see it: shape, colour and word.

import type { ReactNode } from "react";

import { STATES, STEP_STATES, type Look, type Shape } from "../words/states";
import type { State, StepStatus } from "../api/types";

const PATHS: { [shape in Shape]: string } = {
  tick: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4 12 12M12 4 4 12",
  play: "M5 3.5 12.5 8 5 12.5Z",
  again: "M12.6 6A5 5 0 1 0 13 9M13 2.5V6H9.5",
  person: "M8 8a2.6 2.6 0 1 0 0-5.2A2.6 2.6 0 0 0 8 8M3 14c.4-3 2.4-4.3 5-4.3s4.6 1.3 5 4.3",
  signal: "M8 9.5V13.5M5 6.5a4 4 0 0 1 6 0M2.5 4a7.5 7.5 0 0 1 11 0",
  moon: "M12.5 10A5.5 5.5 0 0 1 6 3.5a5.3 5.3 0 1 0 6.5 6.5Z",
  bars: "M5.5 3.5V12.5M10.5 3.5V12.5",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  skull: "M4 9.5V7a4 4 0 0 1 8 0v2.5l-1.5.8V13h-5v-2.7ZM6.5 7.5h.01M9.5 7.5h.01",
  slash: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M4 12 12 4",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5V8.3L10.2 9.5",
};

export function ShapeIcon({ shape }: { shape: Shape }): ReactNode {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor">
      <path d={PATHS[shape]} strokeWidth="2.2" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

export function Mark({ look, word }: { look: Look; word?: string }): ReactNode {
  return (
    <span className={`state tone-${look.tone}`} title={look.means}>
      <ShapeIcon shape={look.shape} />
      {word ?? look.word}
    </span>
  );
}

export function StateMark({ state }: { state: State }): ReactNode {
  return <Mark look={STATES[state]} />;
}

export function StepMark({ status }: { status: StepStatus }): ReactNode {
  return <Mark look={STEP_STATES[status]} />;
}
