// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from "vitest";

import { EventLog, EVENTS_HELD_MAX, TAIL_EVENTS } from "../../src/pages/run/eventLog";
import { event, events, Pretended } from "./pretended";

const numbers = (log: EventLog): number[] => log.snapshot().rows.map((row) => row.seq);
const upTo = (last: number, first = 1): number[] => events(first, last).map((row) => row.seq);

function longLog(newest: number, pageMax: number): Pretended {
  return new Pretended().on(/\/events$/, (url) => {
    const after = Number(url.searchParams.get("after"));
    const limit = Math.min(Number(url.searchParams.get("limit")), pageMax);
    const rows = events(after + 1, Math.min(newest, after + limit));
    return { events: rows, next: rows.at(-1)?.seq ?? null };
  });
}

describe("the log of a run", () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
    vi.unstubAllGlobals();
  });

  it("starts with its end, and gets its start when someone looks for it", async () => {
    const newest = 5_000;
    const server = longLog(newest, 700);
    const log = new EventLog("7");
    ends.push(log.follow(newest));
    await vi.waitFor(() => expect(log.snapshot().state).toBe("open"));
    expect(server.asked("/stream")[0]?.lastEventId).toBe(String(newest - TAIL_EVENTS));
    server.tell(...events(newest - TAIL_EVENTS + 1, newest));
    await vi.waitFor(() => expect(numbers(log)).toEqual(upTo(newest, newest - TAIL_EVENTS + 1)));
    expect(log.snapshot().isWhole).toBe(false);

    ends.push(log.complete());
    await vi.waitFor(() => expect(log.snapshot().isWhole).toBe(true));
    expect(numbers(log)).toEqual(upTo(newest));
  });

  it("neither loses nor repeats an event when the server was restarted", async () => {
    const server = new Pretended();
    const log = new EventLog("7");
    ends.push(log.follow(0));
    await vi.waitFor(() => expect(log.snapshot().state).toBe("open"));
    server.tell(...events(1, 3));
    await vi.waitFor(() => expect(numbers(log)).toEqual([1, 2, 3]));

    server.isDown = true;
    server.cut();
    await vi.waitFor(() => expect(log.snapshot().state).toBe("broken"));
    server.isDown = false;
    await vi.waitFor(() => expect(log.snapshot().state).toBe("open"), 5_000);
    expect(server.asked("/stream").at(-1)?.lastEventId).toBe("3");
    server.tell(event(3), event(4));
    await vi.waitFor(() => expect(numbers(log)).toEqual([1, 2, 3, 4]));
  });

  it("continues after what it has when it is followed anew", async () => {
    const server = new Pretended();
    const log = new EventLog("7");
    const end = log.follow(2);
    await vi.waitFor(() => expect(log.snapshot().state).toBe("open"));
    server.tell(...events(1, 2));
    await vi.waitFor(() => expect(numbers(log)).toEqual([1, 2]));
    end();
    ends.push(log.follow(2));
    await vi.waitFor(() => expect(server.asked("/stream").at(-1)?.lastEventId).toBe("2"));
  });

  it("keeps the end of a log that is longer than a page can hold", async () => {
    const server = new Pretended();
    const log = new EventLog("7");
    ends.push(log.follow(0));
    await vi.waitFor(() => expect(log.snapshot().state).toBe("open"));
    server.tell(...events(1, EVENTS_HELD_MAX + 5));
    await vi.waitFor(() => expect(log.snapshot().rows.length).toBe(EVENTS_HELD_MAX), 5_000);
    expect(log.snapshot().rows[0]?.seq).toBe(6);
    expect(log.snapshot().isWhole).toBe(false);
  });
});
