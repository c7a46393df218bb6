// A server that is pretended: what it answers for each path, what it was sent, and its stream.

import { vi } from "vitest";

import type { EventRow } from "../../src/api/types";

export interface Sent {
  method: string;
  path: string;
  body: unknown;
  lastEventId: string | null;
}

type Answer = (path: URL, body: unknown) => unknown;

/** Thrown by an answer: the server says no. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly detail: string,
  ) {}
}

export class Pretended {
  readonly sent: Sent[] = [];
  isDown = false;
  private readonly answers: [RegExp, Answer][] = [];
  private readonly streams: ReadableStreamDefaultController<Uint8Array>[] = [];

  constructor() {
    vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => this.fetch(path, init));
  }

  on(path: RegExp, answer: Answer): this {
    this.answers.unshift([path, answer]);
    return this;
  }

  /** Tell every stream that is open of events. */
  tell(...rows: EventRow[]): void {
    const text = rows.map((row) => `id: ${row.seq}\ndata: ${JSON.stringify(row)}\n\n`).join("");
    for (const stream of this.streams) stream.enqueue(new TextEncoder().encode(text));
  }

  cut(): void {
    for (const stream of this.streams.splice(0)) stream.close();
  }

  asked(word: string): Sent[] {
    return this.sent.filter((one) => one.path.includes(word));
  }

  private async fetch(path: string, init: RequestInit): Promise<Response> {
    const asked = new Headers(init.headers);
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : null;
    const lastEventId = asked.get("Last-Event-ID");
    this.sent.push({ method: init.method ?? "GET", path, body, lastEventId });
    if (this.isDown) throw new TypeError("connection refused");
    if (path.endsWith("/stream")) return this.stream(init.signal);
    const url = new URL(path, "http://server");
    const [, answer] = this.answers.find(([known]) => known.test(url.pathname)) ?? [];
    if (answer === undefined) return refused(new Refusal(404, `nothing at ${url.pathname}`));
    try {
      const told = answer(url, body);
      return new Response(typeof told === "string" ? told : JSON.stringify(told));
    } catch (refusal) {
      if (refusal instanceof Refusal) return refused(refusal);
      throw refusal;
    }
  }

  private stream(signal: AbortSignal | null | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.streams.push(controller);
        signal?.addEventListener("abort", () => {
          const at = this.streams.indexOf(controller);
          if (at >= 0) this.streams.splice(at, 1);
        });
      },
    });
    return new Response(body);
  }
}

function refused({ status, detail }: Refusal): Response {
  const problem = { type: "about:blank", title: "refused", status, detail };
  return new Response(JSON.stringify(problem), { status });
}

export function event(seq: number, more: Partial<EventRow> = {}): EventRow {
  return {
    seq,
    at: "2026-03-01T12:00:00Z",
    name: "task.started",
    step: "fetch",
    visit: 1,
    iteration: null,
    task: "page",
    attempt: 1,
    data: {},
    text: "task page started",
    ...more,
  };
}

export function events(first: number, last: number): EventRow[] {
  return Array.from({ length: last - first + 1 }, (_, index) => event(first + index));
}
