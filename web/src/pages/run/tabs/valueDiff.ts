// How two values differ: which members were set, taken away or changed, each by its path.

import type { Json } from "../../../api/types";

export interface Change {
  path: string;
  /** Undefined: it was not there. */
  before: Json | undefined;
  /** Undefined: it is not there any more. */
  after: Json | undefined;
}

export const CHANGES_MAX = 100;
const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

/** In the order of the members; `CHANGES_MAX` at most. */
export function changesOf(before: Json, after: Json): Change[] {
  const found: Change[] = [];
  look("", before, after, found);
  return found;
}

function look(path: string, before: Json | undefined, after: Json | undefined, found: Change[]) {
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

/** `orders[3].id`, `headers["x-id 2"]`. */
function joined(path: string, name: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${name}]`;
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path ? `${path}.${name}` : name;
}
