// Which moment of a run the page shows: as of any event of its log, or now.

import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import type { EventRow } from "../../api/types";
import { moment } from "../../words/time";
import "./time-slider.css";

interface TimeSliderProps {
  /** The number of the newest event; events are counted from 1. */
  newest: number;
  /** Null is now: what comes is shown too. */
  at: number | null;
  onChange: (at: number | null) => void;
  /** The event that is shown, where it is known. */
  event: EventRow | undefined;
}

// A hand that drags passes many events; only where it rests is asked for.
const REST_MS = 160;
const PAGE_SHARE = 0.05;

export function TimeSlider({ newest, at, onChange, event }: TimeSliderProps): ReactNode {
  const label = useId();
  const [shown, move] = useRested(at, newest, onChange);
  const key = (pressed: KeyboardEvent): void => {
    const page = Math.max(1, Math.round(newest * PAGE_SHARE));
    const by = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageUp: page,
      PageDown: -page,
      Home: -newest,
      End: newest,
    }[pressed.key];
    if (by === undefined) return;
    pressed.preventDefault();
    move(shown + by);
  };
  const isNow = shown >= newest;
  const name = event?.seq === shown ? event : undefined;
  const words = `event ${shown} of ${newest}${name ? `, ${name.name}` : ""}${isNow ? ", now" : ""}`;
  return (
    <div className="time-slider" role="group" aria-labelledby={label}>
      <span id={label} className="visually-hidden">
        Moment of the run
      </span>
      <div className="time-slider-steps">
        <Step name="First event" text="First" isOff={shown <= 1} onClick={() => move(1)} />
        <Step name="Event before" text="◂" isOff={shown <= 1} onClick={() => move(shown - 1)} />
      </div>
      <input
        type="range"
        min={1}
        max={Math.max(1, newest)}
        value={shown}
        aria-label="Show the run as of event"
        aria-valuetext={words}
        title="Arrow keys: one event; Page Up and Page Down: a twentieth of the log"
        disabled={newest <= 1}
        onKeyDown={key}
        onChange={(changed) => move(Number(changed.target.value))}
      />
      <div className="time-slider-steps">
        <Step name="Next event" text="▸" isOff={isNow} onClick={() => move(shown + 1)} />
        <Step name="Now: the newest event" text="Now" isOff={isNow} onClick={() => move(newest)} />
      </div>
      <EventText shown={shown} newest={newest} event={name} isNow={isNow} />
    </div>
  );
}

/** Where the slider stands at once, and reported where it comes to rest. */
function useRested(
  at: number | null,
  newest: number,
  onChange: (at: number | null) => void,
): [number, (to: number) => void] {
  const [moving, setMoving] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = (wanted: number): void => {
    const to = Math.min(Math.max(wanted, 1), newest);
    setMoving(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setMoving(null);
      onChange(to >= newest ? null : to);
    }, REST_MS);
  };
  return [Math.max(1, Math.min(moving ?? at ?? newest, newest)), move];
}

interface EventTextProps {
  shown: number;
  newest: number;
  event: EventRow | undefined;
  isNow: boolean;
}

function EventText({ shown, newest, event, isNow }: EventTextProps): ReactNode {
  return (
    <p className="time-slider-event small">
      <strong>
        {shown.toLocaleString("en")} / {newest.toLocaleString("en")}
      </strong>
      {isNow && <span className="time-slider-now">now</span>}
      {event && (
        <>
          <time dateTime={event.at} title={event.at}>
            {moment(event.at)}
          </time>
          <span className="time-slider-name mono">{event.name}</span>
          {event.step !== null && <span className="time-slider-name">{event.step}</span>}
        </>
      )}
    </p>
  );
}

interface StepProps {
  name: string;
  text: string;
  isOff: boolean;
  onClick: () => void;
}

function Step({ name, text, isOff, onClick }: StepProps): ReactNode {
  return (
    <button type="button" aria-label={name} title={name} disabled={isOff} onClick={onClick}>
      {text}
    </button>
  );
}
