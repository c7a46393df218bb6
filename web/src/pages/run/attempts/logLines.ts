// What an attempt printed, as lines: of each stream, and of each record that was logged.

import type { Json, JsonObject } from "../../../api/types";

export interface LogLine {
  stream: string;
  /** `WARNING`; null for what was only printed. */
  level: string | null;
  text: string;
}

const ORDER = ["log", "stdout", "stderr"];

/** What it logged, and what the command that it ran has printed, which is a part of its result. */
export function printedBy({ logs, result }: { logs: JsonObject; result: Json }): JsonObject {
  if (result === null || typeof result !== "object" || Array.isArray(result)) return logs;
  const printed = ["stdout", "stderr"].filter((name) => isText(result[name]) && !(name in logs));
  return { ...logs, ...Object.fromEntries(printed.map((name) => [name, result[name] ?? null])) };
}

function isText(value: Json | undefined): boolean {
  return typeof value === "string" && value !== "";
}

export function streamsOf(logs: JsonObject): string[] {
  return Object.keys(logs).toSorted((one, other) => rank(one) - rank(other));
}

function rank(stream: string): number {
  const at = ORDER.indexOf(stream);
  return at < 0 ? ORDER.length : at;
}

/** Of one stream, or of all; those that have this text in them. */
export function logLines(logs: JsonObject, stream: string | null, wanted: string): LogLine[] {
  const streams = streamsOf(logs).filter((name) => stream === null || name === stream);
  const lines = streams.flatMap((name) => linesOf(name, logs[name] ?? null));
  const text = wanted.toLowerCase();
  return text === "" ? lines : lines.filter((line) => lineText(line).toLowerCase().includes(text));
}

function linesOf(stream: string, said: Json): LogLine[] {
  if (typeof said === "string") {
    const lines = said.replace(/\r?\n$/, "").split(/\r?\n/);
    return lines.map((text) => ({ stream, level: null, text }));
  }
  if (Array.isArray(said)) return said.flatMap((one) => recordLines(stream, one));
  return [{ stream, level: null, text: JSON.stringify(said) }];
}

function recordLines(stream: string, record: Json): LogLine[] {
  if (record === null || typeof record !== "object" || Array.isArray(record)) {
    return linesOf(stream, typeof record === "string" ? record : JSON.stringify(record));
  }
  const { level, logger, message, ...more } = record;
  const name = typeof logger === "string" && logger !== "root" ? `${logger}: ` : "";
  const rest = Object.keys(more).length === 0 ? "" : ` ${JSON.stringify(more)}`;
  const said = typeof message === "string" ? message : JSON.stringify(message ?? record);
  const text = `${name}${said}${rest}`;
  return [{ stream, level: typeof level === "string" ? level : null, text }];
}

export function lineText({ level, text }: LogLine): string {
  return level === null ? text : `${level} ${text}`;
}
