// Rows as a server tells them, and a server that answers with them.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, type RenderResult } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";

import type { BulkRequest, BulkDone, RunFacets, RunListed } from "../../src/api/types";

export const HOSTILE = "<img src=x onerror=alert(1)>";
export const NOW = "2026-03-01T12:00:00.000000Z";

// What jsdom lacks: a size, so that a table has rows in sight, and dialogs.
Object.defineProperty(Element.prototype, "clientHeight", { configurable: true, value: 600 });
Object.defineProperty(Element.prototype, "clientWidth", { configurable: true, value: 1000 });
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.open = false;
};

export function run(number: number, more: Partial<RunListed> = {}): RunListed {
  return {
    run: String(380544002554281984n + BigInt(number)),
    program: "orders_sync",
    digest: "ba513edd",
    version: 3,
    status: "done",
    state: "done",
    error: null,
    fingerprint: null,
    created_at: "2026-03-01T11:58:00.000000Z",
    updated_at: "2026-03-01T11:58:02.000000Z",
    ended_at: "2026-03-01T11:58:02.000000Z",
    events: 9,
    key: null,
    labels: {},
    parent: null,
    open: null,
    retried_as: null,
    ...more,
  };
}

export const retrying = run(1, {
  status: "running",
  state: "retrying",
  ended_at: null,
  open: {
    reason: "retry",
    step: "fetch",
    attempt: 4,
    due_at: "2026-03-01T12:00:41.000000Z",
    is_leased: false,
  },
});

export const asking = run(2, {
  program: HOSTILE,
  status: "waiting",
  state: "person",
  ended_at: null,
  labels: { team: HOSTILE },
  questions: [
    {
      run: "380544002554281986",
      step: "approve",
      task: "approve",
      question: `Release ${HOSTILE}?`,
      choices: ["Yes", "No"],
      deadline: null,
      asked: 5,
    },
  ],
});

export const failed = run(3, {
  program: "checkout",
  status: "failed",
  state: "failed",
  error: { kind: "exit_code", retryable: null, message: "no such account" },
  fingerprint: "42018f0d84eb",
});

export function facets(more: Partial<RunFacets["states"]> = {}): RunFacets {
  const states = {
    queued: 0,
    running: 0,
    retrying: 0,
    person: 0,
    signal: 0,
    parked: 0,
    waiting: 0,
    paused: 0,
    done: 0,
    failed: 0,
    dead: 0,
    cancelled: 0,
    ...more,
  };
  const total = Object.values(states).reduce((sum, count) => sum + count, 0);
  return { now: NOW, total, states, programs: ["checkout", "orders_sync"] };
}

type Answer = (asked: URL, body: unknown) => unknown;

export interface Server {
  /** Every request so far: `GET /api/v1/runs?…`. */
  asked: string[];
  bulk: BulkRequest[];
  /** A server-sent event of the stream of changes. */
  tell: (data: unknown) => void;
  /** The stream of changes breaks. */
  breakOff: () => void;
}

/** Stands in for fetch. `answers` has the body for each `METHOD /path`; an Error is a server that
 * is not there, a Response is taken as it is. */
export function serve(answers: { [route: string]: Answer }): Server {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const server: Server = {
    asked: [],
    bulk: [],
    breakOff: () => stream?.close(),
    tell: (data) => stream?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`)),
  };
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    const url = new URL(path, location.origin);
    const method = init.method ?? "GET";
    server.asked.push(`${method} ${url.pathname}${url.search}`);
    if (url.pathname === "/api/v1/runs/changes") {
      const body = new ReadableStream<Uint8Array>({ start: (opened) => void (stream = opened) });
      return new Response(body, { status: 200 });
    }
    const sent: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    if (url.pathname === "/api/v1/runs/bulk") server.bulk.push(sent as BulkRequest);
    const found = answers[`${method} ${url.pathname}`]?.(url, sent);
    if (found instanceof Error) throw found;
    if (found instanceof Response) return found;
    if (found === undefined) return new Response("", { status: 404 });
    return Response.json(found);
  });
  return server;
}

export function bulkDone(more: Partial<BulkDone> = {}): BulkDone {
  return { count: 0, able: 0, changed: [], refused: [], next: null, ...more };
}

export function show(page: ReactNode): RenderResult {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  return render(<QueryClientProvider client={client}>{page}</QueryClientProvider>);
}
