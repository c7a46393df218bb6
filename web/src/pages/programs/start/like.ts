// A start form filled in with the workload of a run there was.

import type { Json, JsonObject, WorkloadField } from "../../../api/types";
import { readField, type Typed } from "./fields";

export interface Filled {
  typed: Typed;
  /** A JSON object of what has no field, or another type than its field; empty for none. */
  more: string;
  /** Names of values that the server does not send whole: they are large, or secret. */
  withheld: readonly string[];
}

export const EMPTY: Filled = { typed: new Map(), more: "", withheld: [] };

const MASK = "[redacted]";
const LEFT_OUT = "…";

export function filledLike(fields: readonly WorkloadField[], workload: JsonObject): Filled {
  const typed = new Map<string, string | boolean>();
  const more: [string, Json][] = [];
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(workload)) {
    const field = fields.find((one) => one.name === name);
    const text = field && textOf(field, value);
    if (!isWhole(value)) withheld.push(name);
    else if (field !== undefined && text !== undefined) typed.set(name, text);
    else more.push([name, value]);
  }
  const others = more.length > 0 ? JSON.stringify(Object.fromEntries(more), null, 2) : "";
  return { typed, more: others, withheld };
}

/** What to type into the field for this value; undefined where the field would read another one. */
function textOf(field: WorkloadField, value: Json): string | boolean | undefined {
  const text = typedAs(field, value);
  const read = readField(field, text);
  const isSame = "value" in read && JSON.stringify(read.value) === JSON.stringify(value);
  return isSame ? text : undefined;
}

function typedAs(field: WorkloadField, value: Json): string | boolean {
  if (field.type === "boolean") return value === true;
  if (field.type === "null" && value === null) return "";
  if (typeof value === "string") return value;
  return JSON.stringify(value, null, field.type === "number" ? undefined : 2);
}

function isWhole(value: Json): boolean {
  if (typeof value === "string") return !value.includes(MASK);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWhole);
  const names = Object.keys(value);
  return !(names.length === 1 && names[0] === LEFT_OUT) && Object.values(value).every(isWhole);
}
