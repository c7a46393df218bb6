// Which events of the log are shown, and how the log is taken along.

import type { EventRow, JsonObject } from "../../../api/types";
import { familyOf } from "./families";

export interface Wanted {
  families: readonly string[];
  step: string | null;
  text: string;
}

export function wantedRows(rows: readonly EventRow[], wanted: Wanted): readonly EventRow[] {
  const text = wanted.text.trim().toLowerCase();
  const { families, step } = wanted;
  if (families.length === 0 && step === null && text === "") return rows;
  return rows.filter(
    (row) =>
      (step === null || row.step === step) &&
      (families.length === 0 || families.includes(familyOf(row.name) ?? "")) &&
      (text === "" || textOf(row).includes(text)),
  );
}

// To search is to look at every event again with each letter.
const texts = new WeakMap<EventRow, string>();

function textOf(row: EventRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const { seq, name, step, task, data } = row;
  const searched = `${seq} ${name} ${step ?? ""} ${task ?? ""} ${row.text} ${JSON.stringify(data)}`;
  const text = searched.toLowerCase();
  texts.set(row, text);
  return text;
}

/** `fetch[3].page`, `fetch visit 2`; empty where an event belongs to no step. */
export function placeOf({ step, visit, iteration, task }: EventRow): string {
  if (step === null) return "";
  const item = iteration === null ? "" : `[${iteration}]`;
  const label = task === null || task === step ? "" : `.${task}`;
  return `${step}${item}${label}${visit !== null && visit > 1 ? ` visit ${visit}` : ""}`;
}

/** The event itself, as it is in the log. */
export function bare(row: EventRow): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== "text"));
}

/** One event per line, as `anew events --json` prints them. */
export function jsonLines(rows: readonly EventRow[]): string {
  return rows.map((row) => `${JSON.stringify(bare(row))}\n`).join("");
}
