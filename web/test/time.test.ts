import { describe, expect, it } from "vitest";

import { clock, distance, duration } from "../src/words/time";

describe("lengths of time", () => {
  it.each([
    [0.0421, "0.042 s"],
    [2.34, "2.3 s"],
    [41.2, "41 s"],
    [59.7, "1 m"],
    [185, "3 m 5 s"],
    [7_800, "2 h 10 m"],
    [356_400, "4 d 3 h"],
    [Infinity, "unbounded"],
  ])("%d seconds are shown as %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it.each([
    [40.2, "0:41"],
    [725, "12:05"],
    [3_723, "1:02:03"],
    [-5, "0:00"],
  ])("a countdown of %d seconds shows %s", (seconds, text) => {
    expect(clock(seconds)).toBe(text);
  });

  it("tells how far a moment is in both directions", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(distance("2025-12-31T23:57:00Z", now)).toBe("3 m ago");
    expect(distance("2026-01-01T00:00:41Z", now)).toBe("in 41 s");
  });
});
