// Moments and lengths of time as people read them.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `0.42 s`, `41 s`, `3 m 5 s`, `2 h 10 m`, `4 d 3 h`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "unbounded";
  const length = Math.max(0, seconds);
  if (length < 1) return `${Number(length.toPrecision(2))} s`;
  if (length < 10) return `${Number(length.toFixed(1))} s`;
  const whole = Math.round(length);
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return pair(whole, MINUTE, "m", 1, "s");
  if (whole < DAY) return pair(whole, HOUR, "h", MINUTE, "m");
  return pair(whole, DAY, "d", HOUR, "h");
}

function pair(seconds: number, large: number, big: string, small: number, little: string): string {
  const first = Math.floor(seconds / large);
  const second = Math.floor((seconds % large) / small);
  return second ? `${first} ${big} ${second} ${little}` : `${first} ${big}`;
}

/** `0:41`, `12:05`, `1:02:03`, `3 d 04:05`: what a countdown shows. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const days = Math.floor(whole / DAY);
  const hours = Math.floor((whole % DAY) / HOUR);
  const minutes = Math.floor((whole % HOUR) / MINUTE);
  const two = (value: number): string => String(value).padStart(2, "0");
  if (days) return `${days} d ${two(hours)}:${two(minutes)}`;
  if (hours) return `${hours}:${two(minutes)}:${two(whole % MINUTE)}`;
  return `${minutes}:${two(whole % MINUTE)}`;
}

export function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

/** `14:03:07`, with the day in front where it is not today. */
export function moment(at: string, now: Date = new Date()): string {
  const when = new Date(at);
  const time = when.toLocaleTimeString(undefined, { hour12: false });
  if (when.toDateString() === now.toDateString()) return time;
  return `${when.toLocaleDateString(undefined, { month: "short", day: "numeric" })} ${time}`;
}

/** `3 m ago`, `in 41 s`. */
export function distance(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds < 0 ? `${coarse(-seconds)} ago` : `in ${coarse(seconds)}`;
}

function coarse(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} m`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)} h`;
  return `${Math.floor(whole / DAY)} d`;
}

export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
