// What a person types into a start form, as the workload that is sent: only what differs from what
// the document gives.

import type { Json, JsonObject, WorkloadField } from "../../../api/types";

/** By the names of fields, which may be any text: those of an object would be in its way. */
export type Typed = ReadonlyMap<string, string | boolean>;

/** What a field shows before anybody touches it. */
export function firstText(field: WorkloadField): string | boolean {
  if (field.type === "boolean") return field.default === true;
  if (field.type === "string") return String(field.default);
  if (field.type === "null") return "";
  return JSON.stringify(field.default, null, field.type === "number" ? undefined : 2);
}

export type Read = { value: Json } | { wrong: string };

/** What was typed, as a value of the type of the field; or what is wrong with it. */
export function readField(field: WorkloadField, typed: string | boolean): Read {
  if (typeof typed === "boolean") return { value: typed };
  switch (field.type) {
    case "string":
      return { value: typed };
    case "number":
      return readNumber(typed);
    case "null":
      return { value: loosely(typed) };
    default:
      return readJson(typed, field.type);
  }
}

function readNumber(text: string): Read {
  const number = Number(text);
  const isNumber = text.trim() !== "" && Number.isFinite(number);
  return isNumber ? { value: number } : { wrong: "This is not a number." };
}

function readJson(text: string, type: string): Read {
  try {
    const value = JSON.parse(text) as Json;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const isFit = type === "array" ? Array.isArray(value) : type !== "object" || isObject;
    if (isFit) return { value };
    return { wrong: `This is JSON, but no ${type === "array" ? "list" : "object"}.` };
  } catch {
    return { wrong: "This is not valid JSON yet." };
  }
}

/** JSON where it is JSON, else text, as `--set` reads it. Nothing at all is null. */
function loosely(text: string): Json {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

export interface Workload {
  values: JsonObject;
  wrong: ReadonlyMap<string, string>;
}

export function workloadOf(fields: readonly WorkloadField[], typed: Typed): Workload {
  const values: [string, Json][] = [];
  const wrong = new Map<string, string>();
  for (const field of fields) {
    const text = typed.get(field.name);
    if (text === undefined || text === firstText(field)) continue;
    const read = readField(field, text);
    if ("wrong" in read) wrong.set(field.name, read.wrong);
    else values.push([field.name, read.value]);
  }
  return { values: Object.fromEntries(values), wrong };
}

/** `name=value`, one in a line; null when one of them is something else. */
export function labelsOf(text: string): { [name: string]: string } | null {
  const pairs: [string, string][] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf("=");
    if (at < 1) return null;
    pairs.push([line.slice(0, at).trim(), line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(pairs);
}
