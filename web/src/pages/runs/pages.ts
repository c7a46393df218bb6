// Pages of runs, of which only those in sight are held: each begins below the last run of the one
// before. What is far away is let go, and fetched again when it comes into sight.

import { useQueries, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { get } from "../../api/client";
import type { RunListed, RunPage, RunText } from "../../api/types";
import type { Filter } from "./filter";

export const PAGE_ROWS = 200;
// Out of sight; about 5,000 rows, a few megabytes.
export const PAGES_KEPT_MAX = 24;

export interface RunPages {
  /** A row that is not here (yet, or any more) is null. */
  rows: readonly (RunListed | null)[];
  isLoading: boolean;
  error: Error | null;
  onRange: (first: number, last: number) => void;
}

type Cursors = readonly (RunText | null)[];

/** The cursors once page `index` has said where the next begins. Those below hold no longer when
 * that has moved. */
export function linked(cursors: Cursors, index: number, next: RunText | null): Cursors {
  if ((cursors[index + 1] ?? null) === next) return cursors;
  const known = cursors.slice(0, index + 1);
  return next === null ? known : [...known, next];
}

interface Sight {
  first: number;
  last: number;
}

export function useRunPages(filter: Filter): RunPages {
  const client = useQueryClient();
  const [cursors, setCursors] = useState<Cursors>([null]);
  const [sight, setSight] = useState<Sight>({ first: 0, last: 0 });
  // One page more on either side, so that scrolling does not wait.
  const from = Math.max(0, sight.first - 1);
  const wanted = cursors.slice(from, sight.last + 2);
  const pages = useQueries({
    queries: wanted.map((before) => ({
      queryKey: ["runs", "page", filter, before],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get<RunPage>("/api/v1/runs", { ...filter, before, limit: PAGE_ROWS }, signal),
    })),
  });
  const held = pages.map((page) => page.data);
  const chain = held.reduce<Cursors>(
    (known, page, at) =>
      page !== undefined && known[from + at] === wanted[at]
        ? linked(known, from + at, page.next)
        : known,
    cursors,
  );
  useEffect(() => setCursors(chain), [chain]);
  const onRange = (first: number, last: number): void => {
    const seen = { first: pageOf(first), last: pageOf(last) };
    if (sight.first === seen.first && sight.last === seen.last) return;
    setSight(seen);
    letGo(client);
  };
  return {
    // Where a page begins elsewhere now, what it held is of no use.
    rows: rowsOf(
      chain.length,
      from,
      held.map((page, at) => (chain[from + at] === wanted[at] ? page?.runs : undefined)),
    ),
    isLoading: pages[0]?.isPending ?? false,
    error: pages.find((page) => page.error !== null)?.error ?? null,
    onRange,
  };
}

function pageOf(row: number): number {
  return Math.floor(row / PAGE_ROWS);
}

/** The rows of all pages; of the last, which may be short, as many as are known. */
export function rowsOf(
  count: number,
  from: number,
  loaded: readonly (readonly RunListed[] | undefined)[],
): (RunListed | null)[] {
  const rows: (RunListed | null)[] = [];
  for (let page = 0; page < count; page++) {
    const here = loaded[page - from];
    if (here !== undefined) rows.push(...here);
    else if (page < count - 1) rows.push(...Array<null>(PAGE_ROWS).fill(null));
  }
  return rows;
}

function letGo(client: QueryClient): void {
  const unseen = client.getQueryCache().findAll({ queryKey: ["runs", "page"], type: "inactive" });
  unseen.sort((one, other) => other.state.dataUpdatedAt - one.state.dataUpdatedAt);
  for (const query of unseen.slice(PAGES_KEPT_MAX)) client.getQueryCache().remove(query);
}
