import { describe, expect, it } from "vitest";

import { drawnBars } from "../../src/gantt/bars";
import { densityDrawn, peakOf, sliceAt } from "../../src/gantt/density";
import { bar, manyLanes } from "../fixtures/pictures";

const SCALE = { span: { from: 0, to: 100 }, width: 1_000 };

describe("the bars that are drawn", () => {
  it("are those in sight", () => {
    const bars = [bar(0, 10, "ok"), bar(40, 60, "retry"), bar(90, 95, "error")];
    const drawn = drawnBars(bars, { span: { from: 20, to: 80 }, width: 600 }, 95);
    expect(drawn.map((one) => [one.kind, one.x, one.width])).toEqual([["retry", 200, 200]]);
  });

  it("are wide enough to see, however short", () => {
    const [one] = drawnBars([bar(50, 50, "error", { attempt: 1 })], SCALE, 100);
    expect(one?.width).toBe(3);
    const [last] = drawnBars([bar(100, 100, "ok", { attempt: 1 })], SCALE, 100);
    expect(last?.x).toBe(997);
  });

  it("reach now while they are open", () => {
    const bars = [bar(10, 20, "retry", { is_open: true })];
    expect(drawnBars(bars, SCALE, 70)[0]).toMatchObject({ x: 100, width: 600, end: 70 });
  });

  it("stand for many where many share a pixel, and for one where they do not", () => {
    const bars = Array.from({ length: 400 }, (_, at) => bar(at * 0.1, at * 0.1 + 0.05, "error"));
    const drawn = drawnBars(bars, SCALE, 100);
    expect(drawn.reduce((sum, one) => sum + one.count, 0)).toBe(400);
    expect(drawn.length).toBeLessThan(40);
    const near = drawnBars(bars, { span: { from: 0, to: 1 }, width: 1_000 }, 100);
    expect(near.every((one) => one.count === 1)).toBe(true);
  });

  it("are not covered by the wait that follows a short attempt", () => {
    const bars = [bar(10, 10.01, "error", { attempt: 1 }), bar(10.01, 70, "retry")];
    const [attempt, wait] = drawnBars(bars, SCALE, 100);
    expect(attempt?.width).toBe(3);
    expect(wait?.x).toBe(103);
    expect((wait?.x ?? 0) + (wait?.width ?? 0)).toBeCloseTo(700);
  });

  it("never hide another kind", () => {
    const bars = [bar(1, 1.01, "ok"), bar(1.01, 1.02, "error"), bar(1.02, 1.03, "ok")];
    expect(drawnBars(bars, SCALE, 100).map((one) => one.kind)).toEqual(["ok", "error", "ok"]);
  });

  it("are bounded by the width, whatever the lane has", () => {
    const [lane] = manyLanes(1, 40_000).lanes;
    const drawn = drawnBars(
      (lane?.bars ?? []).map((one) => ({ ...one, kind: "ok" as const })),
      { span: { from: 0, to: 3_600 }, width: 300 },
      3_600,
    );
    expect(drawn.length).toBeLessThan(300);
  });
});

describe("a density", () => {
  const density = { seconds: 10, working: [2, 4, 0], waiting: [0, 4, 1], errors: [0, 3, 0] };

  it("is as high as its peak", () => {
    expect(peakOf(density)).toBe(8);
    const drawn = densityDrawn(density, { span: { from: 0, to: 30 }, width: 300 }, 80);
    expect(drawn.working).toBe("M0 80V60H100V40H200V80H300V80Z");
    expect(drawn.waiting).toBe("M0 80V60H100V0H200V70H300V80Z");
    expect(drawn.errors).toEqual([{ x: 100, width: 100, height: 48 }]);
  });

  it("tells what was in the slice of a moment, and nothing after its end", () => {
    expect(sliceAt(density, 12)).toEqual({ begin: 10, end: 20, working: 4, waiting: 4, errors: 3 });
    expect(sliceAt(density, 31)).toBeNull();
  });
});
