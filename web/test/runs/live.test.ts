import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { RunChanges } from "../../src/api/types";
import { Gathering } from "../../src/pages/runs/live";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function gathered(): [Gathering, RunChanges[]] {
  const told: RunChanges[] = [];
  return [new Gathering((changes) => told.push(changes), 1_000), told];
}

describe("changes of runs", () => {
  it("are shown at once, and then no more than once in a while", () => {
    const [gathering, told] = gathered();
    for (let at = 0; at < 30; at++) {
      gathering.add({ runs: [String(at)], is_all: false });
      vi.advanceTimersByTime(100);
    }
    // 3 seconds: the first, and one for each second.
    expect(told).toHaveLength(4);
    expect(told[0]?.runs).toEqual(["0"]);
    vi.advanceTimersByTime(1_000);
    expect(new Set(told.flatMap((one) => one.runs)).size).toBe(30);
  });

  it("are all once there are too many to name", () => {
    const [gathering, told] = gathered();
    gathering.add({ runs: Array.from({ length: 5_000 }, (_, at) => `${at}`), is_all: false });
    vi.advanceTimersByTime(0);
    expect(told).toEqual([{ runs: [], is_all: true }]);
    gathering.add({ runs: ["7"], is_all: false });
    vi.advanceTimersByTime(1_000);
    expect(told[1]).toEqual({ runs: ["7"], is_all: false });
  });

  it("are shown to nobody who has gone", () => {
    const [gathering, told] = gathered();
    gathering.add({ runs: ["1"], is_all: false });
    gathering.stop();
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual([]);
  });
});
