import { describe, expect, it } from "vitest";

import {
  between,
  moved,
  pixelOf,
  secondsAt,
  spanOf,
  spanText,
  stepFor,
  ticksOf,
  tickText,
  wholeSpan,
  zoomed,
} from "../../src/gantt/scale";

const WHOLE = { from: 0, to: 100 };

describe("the scale of time", () => {
  it("goes from seconds to pixels and back", () => {
    const scale = { span: { from: 20, to: 60 }, width: 400 };
    expect(pixelOf(scale, 30)).toBe(100);
    expect(secondsAt(scale, 100)).toBe(30);
    expect(pixelOf(scale, secondsAt(scale, 333))).toBeCloseTo(333);
  });

  it("keeps the moment under the pointer where it is", () => {
    const before = { span: WHOLE, width: 1_000 };
    const span = zoomed(WHOLE, 4, 30, WHOLE);
    expect(span && pixelOf({ span, width: 1_000 }, 30)).toBeCloseTo(pixelOf(before, 30));
    expect(span && span.to - span.from).toBeCloseTo(25);
  });

  it("never leaves what there is", () => {
    expect(zoomed({ from: 0, to: 50 }, 0.1, 10, WHOLE)).toBeNull();
    expect(zoomed({ from: 90, to: 100 }, 0.5, 100, WHOLE)).toEqual({ from: 80, to: 100 });
    expect(moved({ from: 0, to: 10 }, -3, WHOLE)).toEqual({ from: 0, to: 10 });
    expect(moved({ from: 80, to: 90 }, 9, WHOLE)).toEqual({ from: 90, to: 100 });
  });

  it("never zooms to nothing", () => {
    let span: { from: number; to: number } = WHOLE;
    for (let turn = 0; turn < 200; turn++) span = zoomed(span, 3, 50, WHOLE) ?? span;
    expect(span.to - span.from).toBeGreaterThan(0.001);
  });

  it("takes a dragged stretch in either direction, and none that is a click", () => {
    expect(between(40, 10, WHOLE)).toEqual({ from: 10, to: 40 });
    expect(between(40, 400, WHOLE)).toEqual({ from: 40, to: 100 });
    expect(between(10, 10, WHOLE)).toBeNull();
    expect(between(-1, 200, WHOLE)).toBeNull();
  });

  it("leaves a live run room to grow, so that it is not drawn anew at every moment", () => {
    const spans = [100.1, 100.4, 101, 102.9].map((end) => wholeSpan(end, true).to);
    expect(new Set(spans).size).toBe(1);
    expect(wholeSpan(100.1, true).to).toBeGreaterThan(100.1);
    expect(wholeSpan(100.1, false)).toEqual({ from: 0, to: 100.1 });
    expect(wholeSpan(0, false).to).toBeGreaterThan(0);
  });

  it("is kept in an address, and hostile words there are no span", () => {
    const span = { from: 12.5, to: 40.125 };
    expect(spanOf(spanText(span), WHOLE)).toEqual(span);
    for (const text of ["", "40", "a-b", "-5-10", "NaN-Infinity", "1e3-2e3", "40-40"]) {
      expect(spanOf(text, WHOLE)).toBeNull();
    }
  });
});

describe("the marks of the axis", () => {
  it.each([
    [0.0004, 0.001],
    [0.3, 0.5],
    [7, 10],
    [40, 60],
    [700, 900],
    [4_000, 7_200],
    [90_000, 172_800],
    [400_000, 432_000],
  ])("stand %d seconds or a little more apart: %d", (least, step) => {
    expect(stepFor(least)).toBe(step);
  });

  it.each([0.01, 0.7, 9, 96, 1_800, 20_000, 400_000, 30_000_000])(
    "are few and readable over %d seconds",
    (seconds) => {
      const scale = { span: { from: 0, to: seconds }, width: 1_000 };
      const ticks = ticksOf(scale);
      expect(ticks.length).toBeGreaterThanOrEqual(3);
      expect(ticks.length).toBeLessThanOrEqual(13);
      expect(new Set(ticks.map((tick) => tick.text)).size).toBe(ticks.length);
    },
  );

  it("start at a round moment inside what is shown", () => {
    const ticks = ticksOf({ span: { from: 33, to: 93 }, width: 600 });
    expect(ticks.map((tick) => tick.text)).toEqual([
      "40 s",
      "50 s",
      "1:00",
      "1:10",
      "1:20",
      "1:30",
    ]);
  });

  it.each([
    [0.25, 0.05, "250 ms"],
    [1.25, 0.05, "1.25 s"],
    [0.4, 0.2, "0.4 s"],
    [41, 1, "41 s"],
    [185, 5, "3:05"],
    [180, 60, "3 m"],
    [7_800, 600, "2 h 10 m"],
    [7_205, 5, "2:00:05"],
    [93_600, 7_200, "1 d 02:00"],
    [172_800, 86_400, "2 d"],
  ])("%d seconds with marks every %d are %s", (at, step, text) => {
    expect(tickText(at, step)).toBe(text);
  });
});
