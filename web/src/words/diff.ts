// How two values of JSON differ: which members were added, taken away or changed, each by its path.
// Texts of many lines are shown line by line, by parts/lineDiff.

import type { Json } from "../api/types";

export interface Change {
  /** `orders[3].id`, `headers["x-id 2"]`; empty: all of it. */
  path: string;
  /** Undefined: it was not there. */
  before: Json | undefined;
  /** Undefined: it is not there any more. */
  after: Json | undefined;
}

export const CHANGES_MAX = 200;
const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;
// A text this short is read at a glance.
const LONG_TEXT = 120;

/** In the order of the members; `CHANGES_MAX` at most. The order of names is no difference. */
export function changesOf(before: Json | undefined, after: Json | undefined): Change[] {
  const found: Change[] = [];
  look("", before, after, found);
  return found;
}

function look(
  path: string,
  before: Json | undefined,
  after: Json | undefined,
  found: Change[],
): void {
  if (found.length >= CHANGES_MAX || before === after) return;
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    found.push({ path, before, after });
    return;
  }
  const isList = Array.isArray(before);
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  for (const name of new Set([...old.keys(), ...young.keys()])) {
    look(joined(path, name, isList), old.get(name), young.get(name), found);
  }
}

function isBranch(value: Json | undefined): value is Json[] | { [name: string]: Json } {
  return typeof value === "object" && value !== null;
}

function joined(path: string, name: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${name}]`;
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path ? `${path}.${name}` : name;
}

export type ChangeKind = "added" | "removed" | "changed";

export function kindOf({ before, after }: Change): ChangeKind {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}

/** Two texts of which a line says more than the whole. */
export function isTextChange(change: Change): change is Change & { before: string; after: string } {
  const { before, after } = change;
  if (typeof before !== "string" || typeof after !== "string") return false;
  const isLong = before.length > LONG_TEXT || after.length > LONG_TEXT;
  return isLong && (before.includes("\n") || after.includes("\n"));
}
