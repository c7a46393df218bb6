// Which runs are meant. The words are the same in the address of this page, in the query of
// GET /api/v1/runs, in the filter of POST /api/v1/runs/bulk and as options of `anew runs`.

import type { BulkRequest, State } from "../../api/types";
import { STATES } from "../../words/states";

const SINGLE_WORDS = [
  "text",
  "program",
  "version",
  "attempt",
  "due_within",
  "error_kind",
  "fingerprint",
  "since",
  "until",
  "running_longer_than",
  "retried",
] as const;
const WHOLE_NUMBERS: readonly string[] = ["version", "attempt"];
// What makes sense, where not everything does.
const PATTERNS: { readonly [word: string]: RegExp } = {
  version: /^[1-9]\d{0,8}$/,
  attempt: /^[1-9]\d{0,8}$/,
  retried: /^(true|false)$/,
};
// What the server takes at most; more in an address are not sent.
export const LABELS_MAX = 16;

export type SingleWord = (typeof SINGLE_WORDS)[number];
export type Filter = {
  readonly state: readonly State[];
  readonly label: readonly string[];
} & { readonly [word in SingleWord]?: string };

/** The order in which people look for trouble. */
export const STATE_ORDER: readonly State[] = [
  "running",
  "retrying",
  "person",
  "signal",
  "parked",
  "waiting",
  "queued",
  "paused",
  "failed",
  "dead",
  "done",
  "cancelled",
];

export const EVERYTHING: Filter = { state: [], label: [] };

function isState(word: string): word is State {
  return Object.hasOwn(STATES, word);
}

/** What an address asks for. What makes no sense in it is left out. */
export function filterIn(words: URLSearchParams): Filter {
  const asked = words.getAll("state").filter(isState);
  const single: { [word in SingleWord]?: string } = {};
  for (const word of SINGLE_WORDS) {
    const value = words.get(word)?.trim() ?? "";
    if ((PATTERNS[word] ?? /./).test(value)) single[word] = value;
  }
  // The versions of a program are counted from 1: without it the number says nothing.
  if (single.program === undefined) delete single.version;
  const labels = words.getAll("label").filter((label) => /^[^=]+=/.test(label));
  return {
    ...single,
    state: STATE_ORDER.filter((state) => asked.includes(state)),
    label: [...new Set(labels)].slice(0, LABELS_MAX),
  };
}

/** States that an address asks for and that there are not. */
export function unknownStates(words: URLSearchParams): string[] {
  return [...new Set(words.getAll("state"))].filter((word) => word !== "" && !isState(word));
}

/** The words of a filter and their values, always in the same order. */
export function wordsOf(filter: Filter): [string, string][] {
  const pairs: [string, string][] = filter.state.map((state) => ["state", state]);
  for (const word of SINGLE_WORDS) {
    const value = filter[word];
    if (value !== undefined) pairs.push([word, value]);
  }
  return [...pairs, ...filter.label.map((label): [string, string] => ["label", label])];
}

/** The same text for the same filter. */
export function queryText(filter: Filter): string {
  return new URLSearchParams(wordsOf(filter)).toString();
}

export function isEverything(filter: Filter): boolean {
  return wordsOf(filter).length === 0;
}

/** Where the Runs page shows these. */
export function runsAddress(filter: Filter): string {
  const text = queryText(filter);
  return text ? `/?${text}` : "/";
}

/** As the body of a bulk action says it. */
export function bulkFilter(filter: Filter): NonNullable<BulkRequest["filter"]> {
  const said: NonNullable<BulkRequest["filter"]> = {};
  for (const [word, value] of wordsOf(filter)) {
    said[word] = WHOLE_NUMBERS.includes(word) ? Number(value) : value;
  }
  if (filter.state.length) said["state"] = [...filter.state];
  if (filter.label.length) said["label"] = [...filter.label];
  return said;
}

/** As options of the command line: `--due-within 5m`. */
export function cliWords(filter: Filter): string[] {
  return wordsOf(filter).flatMap(([word, value]) => [`--${word.replaceAll("_", "-")}`, value]);
}
