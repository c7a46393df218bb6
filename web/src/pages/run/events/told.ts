// Reads the data of an event, which may come from an older or a newer engine: what is not as it
// should be is as if it were not there.

import type { Json, JsonObject } from "../../../api/types";

const TEXT_SHOWN = 160;
const NAMES_SHOWN = 6;

export function object(value: Json | undefined): JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

export function number(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null;
}

/** On one line, and no longer than one. */
export function line(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // What a line has no room for need not be made one line of.
  const begin = text
    .slice(0, 4 * TEXT_SHOWN)
    .replace(/\s+/g, " ")
    .trim();
  return begin.length > TEXT_SHOWN ? `${begin.slice(0, TEXT_SHOWN)}…` : begin;
}

/** `a, b, c and 4 more`. */
export function names(values: readonly Json[]): string {
  const shown = values.slice(0, NAMES_SHOWN).map(line).join(", ");
  const more = values.length - NAMES_SHOWN;
  return more > 0 ? `${shown} and ${more.toLocaleString("en")} more` : shown;
}

/** `rate_limit: HTTP 429 from …`. */
export function errorText(value: Json | undefined): string {
  const { kind, message } = object(value);
  return joined([line(kind), line(message)], ": ");
}

export function joined(parts: readonly string[], by = " · "): string {
  return parts.filter((part) => part !== "").join(by);
}
