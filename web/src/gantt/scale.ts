// From seconds to pixels and back; which stretch of time is shown, and where its axis has marks.
// All moments are seconds since the lanes begin.

export interface Span {
  from: number;
  to: number;
}

export interface Scale {
  span: Span;
  width: number;
}

export interface Tick {
  at: number;
  text: string;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
// Finer than the log is.
const SPAN_SECONDS_MIN = 0.002;
const TICK_PIXELS_MIN = 84;
const TICKS_MAX = 60;
const STEPS: readonly number[] = [
  0.001,
  0.002,
  0.005,
  0.01,
  0.02,
  0.05,
  0.1,
  0.2,
  0.5,
  1,
  2,
  5,
  10,
  15,
  30,
  MINUTE,
  120,
  300,
  600,
  900,
  1_800,
  HOUR,
  7_200,
  10_800,
  21_600,
  43_200,
  DAY,
];

export function lengthOf(span: Span): number {
  return span.to - span.from;
}

export function pixelOf(scale: Scale, seconds: number): number {
  return ((seconds - scale.span.from) / lengthOf(scale.span)) * scale.width;
}

export function secondsAt(scale: Scale, pixel: number): number {
  return scale.span.from + (pixel / Math.max(1, scale.width)) * lengthOf(scale.span);
}

/** All there is. While it goes on there is room to grow, so that not every moment moves the rest. */
export function wholeSpan(seconds: number, isLive: boolean): Span {
  const end = Math.max(seconds, SPAN_SECONDS_MIN);
  if (!isLive) return { from: 0, to: end };
  const step = stepFor(end / 20);
  return { from: 0, to: (Math.floor(end / step) + 1) * step };
}

/** Closer with a factor above 1, around a moment that stays where it is. Null is the whole. */
export function zoomed(span: Span, factor: number, around: number, whole: Span): Span | null {
  const length = Math.max(SPAN_SECONDS_MIN, lengthOf(span) / factor);
  if (length >= lengthOf(whole)) return null;
  const share = (around - span.from) / lengthOf(span);
  return within({ from: around - share * length, to: around + (1 - share) * length }, whole);
}

/** By a share of what is shown; above 0 it is later. */
export function moved(span: Span, share: number, whole: Span): Span {
  const by = share * lengthOf(span);
  return within({ from: span.from + by, to: span.to + by }, whole);
}

/** Between two moments in either order; null where that is nothing, or all. */
export function between(one: number, other: number, whole: Span): Span | null {
  const from = Math.max(whole.from, Math.min(one, other));
  const to = Math.min(whole.to, Math.max(one, other));
  if (to - from < SPAN_SECONDS_MIN || to - from >= lengthOf(whole)) return null;
  return { from, to };
}

function within(span: Span, whole: Span): Span {
  const length = Math.min(lengthOf(span), lengthOf(whole));
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** The smallest good step that is at least this long. */
export function stepFor(seconds: number): number {
  const found = STEPS.find((step) => step >= seconds);
  if (found !== undefined) return found;
  const days = seconds / DAY;
  const power = 10 ** Math.floor(Math.log10(days));
  return DAY * power * ([1, 2, 5, 10].find((part) => part * power >= days) ?? 10);
}

export function ticksOf(scale: Scale): Tick[] {
  const step = stepFor((lengthOf(scale.span) * TICK_PIXELS_MIN) / Math.max(1, scale.width));
  const first = Math.ceil(scale.span.from / step - 1e-9);
  const last = Math.floor(scale.span.to / step + 1e-9);
  const count = Math.min(TICKS_MAX, Math.max(0, last - first + 1));
  return Array.from({ length: count }, (_, number) => {
    const at = (first + number) * step;
    return { at, text: tickText(at, step) };
  });
}

/** As exact as the step between two marks, and no more. */
export function tickText(at: number, step: number): string {
  if (step < 0.1 && at < 1) return `${Math.round(at * 1000)} ms`;
  if (step < 1) return `${at.toFixed(Math.ceil(-Math.log10(step) - 1e-9))} s`;
  const whole = Math.round(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  const [days, hours] = [Math.floor(whole / DAY), Math.floor((whole % DAY) / HOUR)];
  const [minutes, seconds] = [Math.floor((whole % HOUR) / MINUTE), whole % MINUTE];
  if (whole < MINUTE) return `${whole} s`;
  if (days) return hours || step < DAY ? `${days} d ${two(hours)}:${two(minutes)}` : `${days} d`;
  if (hours && step < MINUTE) return `${hours}:${two(minutes)}:${two(seconds)}`;
  if (hours) return minutes || step < HOUR ? `${hours} h ${two(minutes)} m` : `${hours} h`;
  return step < MINUTE ? `${minutes}:${two(seconds)}` : `${minutes} m`;
}

/** `12.5-40`, as an address holds it. */
export function spanText(span: Span): string {
  const text = (seconds: number): string => String(Number(seconds.toPrecision(9)));
  return `${text(span.from)}-${text(span.to)}`;
}

export function spanOf(text: string | null, whole: Span): Span | null {
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  return found ? between(Number(found[1]), Number(found[2]), whole) : null;
}
