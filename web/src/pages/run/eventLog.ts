// The log of one run as far as this page has it: without gaps or repeats, its end first. What
// happens is shown by one stream; the beginning is read page by page once someone looks for it.

import { get } from "../../api/client";
import { listen, type StreamState } from "../../api/stream";
import type { EventPage, EventRow } from "../../api/types";

export interface EventLogState {
  /** In order, each once; the oldest may be missing. */
  rows: readonly EventRow[];
  /** The first row is the first event of the run. */
  isWhole: boolean;
  state: StreamState;
  /** Why there is no stream, when the server refuses one. */
  refused: Error | null;
}

/** Rows of the first look: enough for a screenful, and soon here. */
export const TAIL_EVENTS = 300;
const PAGE_EVENTS = 2_000;
/** Of a longer log this page keeps the end. */
export const EVENTS_HELD_MAX = 50_000;
// Events come in bursts: one drawing for all of a burst.
const BURST_MS = 60;
const AGAIN_MS = 2_000;

export class EventLog {
  private current: EventLogState = { rows: [], isWhole: false, state: "connecting", refused: null };
  private readonly listeners = new Set<() => void>();
  private heard: EventRow[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** How many events of the run come before the first row. */
  private before: number | null = null;

  constructor(private readonly run: string) {}

  readonly snapshot = (): EventLogState => this.current;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private get path(): string {
    return `/api/v1/runs/${encodeURIComponent(this.run)}/events`;
  }

  /** Follow the run, from the end of the `newest` events that it has; ends with the answer. */
  follow(newest: number): () => void {
    this.before ??= Math.max(0, newest - TAIL_EVENTS);
    const seen = this.current.rows.at(-1)?.seq ?? this.before;
    const stop = listen(`${this.path}/stream`, String(seen), {
      onMessage: (message) => this.hear(JSON.parse(message.data) as EventRow),
      onState: (state) => this.change({ state }),
      onRefused: (refused) => this.change({ refused, state: "over" }),
    });
    return () => {
      stop();
      this.take();
    };
  }

  /** Read what is older than the first row, as far as it may be held; ends with the answer. */
  complete(): () => void {
    const stop = new AbortController();
    void this.readOlder(stop.signal);
    return () => stop.abort();
  }

  private hear(row: EventRow): void {
    const last = this.heard.at(-1) ?? this.current.rows.at(-1);
    // A stream that was opened again may begin with what is known.
    if (last !== undefined && row.seq <= last.seq) return;
    this.heard.push(row);
    this.timer ??= setTimeout(() => this.take(), BURST_MS);
  }

  private take(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.heard.length === 0) return;
    const rows = [...this.current.rows, ...this.heard].slice(-EVENTS_HELD_MAX);
    this.heard = [];
    this.keep(rows);
  }

  private keep(rows: readonly EventRow[]): void {
    this.before = (rows[0]?.seq ?? 1) - 1;
    this.change({ rows });
  }

  private change(part: Partial<EventLogState>): void {
    this.current = { ...this.current, ...part, isWhole: this.before === 0 };
    for (const listener of this.listeners) listener();
  }

  private async readOlder(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted && this.before && this.current.rows.length < EVENTS_HELD_MAX) {
      const older = await this.olderPage(this.before, stopped).catch(() => null);
      if (stopped.aborted) return;
      if (older === null) await new Promise((done) => setTimeout(done, AGAIN_MS));
      else if (older.at(-1)?.seq === this.before) this.keep([...older, ...this.current.rows]);
    }
  }

  /** The events up to and with `last`; an answer may have fewer than were asked for. */
  private async olderPage(last: number, stopped: AbortSignal): Promise<EventRow[]> {
    const rows: EventRow[] = [];
    let after = Math.max(0, last - PAGE_EVENTS);
    while (after < last) {
      const page = await get<EventPage>(this.path, { after, limit: last - after }, stopped);
      rows.push(...page.events);
      const reached = page.events.at(-1)?.seq;
      if (reached === undefined) throw new Error(`the log has no event after ${after}`);
      after = reached;
    }
    return rows;
  }
}
