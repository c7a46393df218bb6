// What a fork asks for, as the body of a request and as a command line.

import type { JsonObject, RunDocument, RunPicture } from "../../../api/types";

/** The document to go on under. */
export type DocumentChosen =
  | { kind: "own" }
  | { kind: "version"; version: number }
  | { kind: "edited"; text: string; from: RunDocument };

export const OWN: DocumentChosen = { kind: "own" };

export interface ForkWanted {
  /** The step to begin with again: what came before its latest visit is shared. Null: see `at`. */
  step: string | null;
  /** The last event to share; null: the newest there is. */
  at: number | null;
  changes: JsonObject;
  chosen: DocumentChosen;
  cancels: boolean;
}

/** Where a fork begins unless someone says otherwise: a run that has ended has nothing to go on with
 * after its newest event. */
export function firstCut(picture: RunPicture): Pick<ForkWanted, "at" | "step"> {
  const { status, events, failed_step: failed } = picture;
  // Its last event is that it was cancelled.
  if (status === "cancelled") return { at: Math.max(1, events - 1), step: null };
  if (status === "failed") return { at: null, step: failed ?? lastStarted(picture) };
  return { at: null, step: status === "done" ? lastStarted(picture) : null };
}

function lastStarted({ lanes }: RunPicture): string | null {
  let [last, latest] = [lanes.lanes.at(-1)?.step ?? null, -1];
  for (const { step, bars } of lanes.lanes) {
    for (const { begin } of bars) if (begin >= latest) [last, latest] = [step, begin];
  }
  return last;
}

/** What a person has typed; null when it is no object. Nothing at all changes nothing. */
export function objectOf(text: string): JsonObject | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

export function bodyOf(program: string, wanted: ForkWanted): { [name: string]: unknown } {
  return {
    ...whereOf(wanted),
    ...(hasMembers(wanted.changes) ? { workload: wanted.changes } : {}),
    ...documentOf(program, wanted.chosen),
    ...(wanted.cancels ? { cancel: true } : {}),
  };
}

function whereOf({ at, step }: ForkWanted): { [name: string]: unknown } {
  if (step !== null) return { step };
  return at === null ? {} : { at };
}

function documentOf(program: string, chosen: DocumentChosen): { [name: string]: unknown } {
  if (chosen.kind === "own") return {};
  if (chosen.kind === "version") return { program, version: chosen.version };
  const { file, dialect, files } = chosen.from;
  return { document: chosen.text, file, ...(dialect === null ? {} : { dialect }), files };
}

export function cliOf(picture: RunPicture, wanted: ForkWanted): string[] {
  const { chosen, changes } = wanted;
  const words = ["fork", picture.run];
  if (wanted.step !== null) words.push("--from", wanted.step);
  else if (wanted.at !== null) words.push("--at", String(wanted.at));
  if (chosen.kind === "version") words.push("--program", `${picture.program}@${chosen.version}`);
  if (chosen.kind === "edited") words.push("--program", chosen.from.file);
  if (hasMembers(changes)) words.push("--payload", JSON.stringify(changes));
  return wanted.cancels ? [...words, "--cancel"] : words;
}

function hasMembers(object: JsonObject): boolean {
  return Object.keys(object).length > 0;
}
