// One action on many runs: counted first, then done page by page, so that it can be stopped.

import { inquire, post } from "../../../api/client";
import type { BulkAction, BulkRequest, BulkDone, RunText } from "../../../api/types";
import type { Command } from "../../../parts/Commands";
import { bulkFilter, cliWords, isEverything, type Filter } from "../filter";

const PATH = "/api/v1/runs/bulk";
// How many runs are named in one request; the server takes no more.
export const RUNS_EACH_MAX = 100;

/** The runs that are meant: some by their ids, or those of a filter. */
export type Meant = { runs: readonly RunText[] } | { filter: Filter };

/** The requests that name all of them: a filter is one, and goes on by its cursor. */
export function requests(action: BulkAction, meant: Meant): BulkRequest[] {
  if ("filter" in meant) return [{ action, filter: bulkFilter(meant.filter) }];
  const asked: BulkRequest[] = [];
  for (let at = 0; at < meant.runs.length; at += RUNS_EACH_MAX) {
    asked.push({ action, runs: meant.runs.slice(at, at + RUNS_EACH_MAX) });
  }
  return asked;
}

export interface Preview {
  count: number;
  able: number;
}

/** How many runs are meant, and how many of them the action can change. Nothing is changed. */
export async function previewed(action: BulkAction, meant: Meant): Promise<Preview> {
  const sum = { count: 0, able: 0 };
  for (const asked of requests(action, meant)) {
    const found = await inquire<BulkDone>(PATH, { ...asked, dry_run: true });
    sum.count += found.count;
    sum.able += found.able;
  }
  return sum;
}

export interface Progress {
  looked: number;
  changed: number;
  refused: BulkDone["refused"];
  /** What is still to be asked; nothing when all is done. */
  left: readonly BulkRequest[];
}

export function started(action: BulkAction, meant: Meant, reason: string): Progress {
  const why = reason.trim() === "" ? {} : { reason: reason.trim() };
  const left = requests(action, meant).map((asked) => ({ ...asked, ...why }));
  return { looked: 0, changed: 0, refused: [], left };
}

/** One page further. */
export async function advanced(progress: Progress): Promise<Progress> {
  const [asked, ...others] = progress.left;
  if (asked === undefined) return progress;
  const done = await post<BulkDone>(PATH, asked);
  return {
    looked: progress.looked + done.count,
    changed: progress.changed + done.changed.length,
    refused: [...progress.refused, ...done.refused],
    left: done.next === null ? others : [{ ...asked, before: done.next }, ...others],
  };
}

/** The same on the command line. */
export function bulkCommand(action: BulkAction, meant: Meant, reason: string): Command {
  const words = "filter" in meant ? optionsOf(meant.filter) : meant.runs;
  const why = reason.trim() === "" ? [] : ["--reason", reason.trim()];
  const body = "filter" in meant ? { filter: bulkFilter(meant.filter) } : { runs: meant.runs };
  return {
    cli: ["bulk", action, ...words, ...why, "--yes"],
    method: "POST",
    path: PATH,
    body: { action, ...body, ...(why.length ? { reason: reason.trim() } : {}) },
  };
}

/** The command wants to be told what it is about: since ever is everything. */
function optionsOf(filter: Filter): readonly string[] {
  return isEverything(filter) ? ["--since", "1970-01-01"] : cliWords(filter);
}
