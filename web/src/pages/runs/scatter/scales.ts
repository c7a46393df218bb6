// Where a moment and a length of time stand in the scatter: time from left to right, lengths
// upwards by their logarithm, for runs take from milliseconds to weeks.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LEAST_SECONDS = 0.001;
const LENGTHS = [
  0.001,
  0.01,
  0.1,
  1,
  10,
  MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  DAY,
  7 * DAY,
  30 * DAY,
  365 * DAY,
];
const FINE_LENGTHS = LENGTHS.flatMap((seconds) => [seconds, 2 * seconds, 5 * seconds]);
const STEPS = [
  1,
  5,
  15,
  30,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  90 * DAY,
  365 * DAY,
];

export interface Span {
  from: number;
  to: number;
}

export interface Tick {
  at: number;
  text: string;
}

/** Widened where all is at one value, so that a scale can be made of it. */
export function spanOf(values: readonly number[], least: number): Span {
  const from = values.reduce((low, value) => Math.min(low, value), Infinity);
  const to = values.reduce((high, value) => Math.max(high, value), -Infinity);
  const room = Math.max((to - from) * 0.03, least / 2);
  return { from: from - room, to: to + room };
}

export function logarithm(seconds: number): number {
  return Math.log10(Math.max(seconds, LEAST_SECONDS));
}

/** A value of the span as a place between two others. */
export function placed(value: number, span: Span, first: number, last: number): number {
  return first + ((value - span.from) / (span.to - span.from)) * (last - first);
}

/** The value at a place: the way back. */
export function valueAt(place: number, span: Span, first: number, last: number): number {
  return span.from + ((place - first) / (last - first)) * (span.to - span.from);
}

/** Lengths to name at the side: at most `room` of them, apart from each other. */
export function lengthTicks(span: Span, room: number, word: (seconds: number) => string): Tick[] {
  const found = apart(LENGTHS, span, room);
  // Where all runs take about as long, round lengths are too far from each other.
  const named = found.length > 1 ? found : apart(FINE_LENGTHS, span, room);
  return named.map((seconds) => ({ at: logarithm(seconds), text: word(seconds) }));
}

function apart(lengths: readonly number[], span: Span, room: number): number[] {
  const gap = (span.to - span.from) / Math.max(1, room);
  let last = -Infinity;
  return lengths.filter((seconds) => {
    const at = logarithm(seconds);
    if (at < span.from || at > span.to || at - last < gap) return false;
    last = at;
    return true;
  });
}

/** Moments (milliseconds) to name below: round ones of the clock on the wall. */
export function timeTicks(span: Span, room: number): Tick[] {
  const seconds = (span.to - span.from) / 1000;
  const step = (STEPS.find((one) => seconds / one <= room) ?? 365 * DAY) * 1000;
  const zone = new Date(span.from).getTimezoneOffset() * MINUTE * 1000;
  const ticks: Tick[] = [];
  let day = "";
  for (let at = Math.ceil((span.from - zone) / step) * step + zone; at <= span.to; at += step) {
    const when = new Date(at);
    const isNewDay = when.toDateString() !== day;
    day = when.toDateString();
    ticks.push({ at, text: tickText(when, step / 1000, isNewDay) });
  }
  return ticks;
}

function tickText(when: Date, step: number, isNewDay: boolean): string {
  const date = when.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  if (step >= DAY) return date;
  const parts: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hour12: false };
  if (step < MINUTE) parts.second = "2-digit";
  const time = when.toLocaleTimeString(undefined, parts);
  return isNewDay ? `${date} ${time}` : time;
}
