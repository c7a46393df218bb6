import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";

import type { RunPoint } from "../../src/api/types";
import { nearest, plotted } from "../../src/pages/runs/scatter/placing";
import {
  lengthTicks,
  logarithm,
  placed,
  spanOf,
  valueAt,
} from "../../src/pages/runs/scatter/scales";
import { Scatter } from "../../src/pages/runs/scatter/Scatter";
import { stepped } from "../../src/pages/runs/scatter/descriptions";

const FRAME = { width: 800, height: 190, left: 52, right: 12, top: 10, bottom: 24 };
const POINTS: RunPoint[] = [
  ["3", "2026-03-01T12:00:00Z", 60, "failed"],
  ["2", "2026-03-01T11:30:00Z", 0.01, "done"],
  ["1", "2026-03-01T11:00:00Z", 3_600, "done"],
];

describe("where runs are in the scatter", () => {
  it("is by start from left to right and by duration upwards, each inside the frame", () => {
    const plot = plotted(POINTS, FRAME);
    expect(plot.points.map((one) => one.point[0])).toEqual(["1", "2", "3"]);
    const [long, short, middle] = plot.points.map((one) => one.y);
    expect(long).toBeLessThan(middle ?? NaN);
    expect(middle).toBeLessThan(short ?? NaN);
    for (const { x, y } of plot.points) {
      expect(x).toBeGreaterThan(FRAME.left);
      expect(x).toBeLessThan(FRAME.width - FRAME.right);
      expect(y).toBeGreaterThan(FRAME.top);
      expect(y).toBeLessThan(FRAME.height - FRAME.bottom);
    }
  });

  it("is one path for each state, however many there are", () => {
    const many = Array.from({ length: 2_000 }, (_, at): RunPoint => [
      `${at}`,
      "2026-03-01T11:00:00Z",
      at,
      at % 2 ? "done" : "failed",
    ]);
    expect(plotted(many, FRAME).paths).toHaveLength(2);
  });

  it("can be drawn for a single run, and of one that took no time", () => {
    for (const { x, y } of plotted([["1", "2026-03-01T11:00:00Z", 0, "done"]], FRAME).points) {
      expect(Number.isFinite(x) && Number.isFinite(y)).toBe(true);
    }
  });

  it("finds the nearest within reach, and none beyond", () => {
    const { points } = plotted(POINTS, FRAME);
    const first = points[0];
    expect(nearest(points, (first?.x ?? 0) + 3, first?.y ?? 0, 12)).toBe(0);
    expect(nearest(points, 400, 400, 12)).toBe(-1);
  });

  it("goes from a place back to the moment", () => {
    const span = spanOf([0, 1_000], 10);
    expect(valueAt(placed(250, span, 52, 788), span, 52, 788)).toBeCloseTo(250);
  });

  it("names lengths that are apart", () => {
    const span = { from: logarithm(0.005), to: logarithm(86_400) };
    const ticks = lengthTicks(span, 5, String);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(ticks.map((tick) => tick.text)).toContain("0.01");
  });

  it("names more than one length where all runs take about as long", () => {
    const ticks = lengthTicks({ from: logarithm(110), to: logarithm(1_700) }, 8, String);
    expect(ticks.map((tick) => tick.text)).toEqual(["120", "300", "600", "1200"]);
  });
});

// jsdom has no pointers; a mouse says the same.
function point(chart: Element, what: string, clientX: number, clientY: number): void {
  fireEvent(chart, new MouseEvent(what, { bubbles: true, button: 0, clientX, clientY }));
}

describe("the scatter", () => {
  it("says what is in it to whoever cannot see it", () => {
    render(<Scatter data={{ points: POINTS, is_cut: true }} onRange={vi.fn()} />);
    expect(screen.getByRole("slider").getAttribute("aria-label")).toBe(
      "Start and duration of the newest 3 runs: 1 failed, 2 done. The table below lists them.",
    );
  });

  it("goes from run to run by keys, and opens one", () => {
    render(<Scatter data={{ points: POINTS, is_cut: false }} onRange={vi.fn()} />);
    const chart = screen.getByRole("slider");
    fireEvent.keyDown(chart, { key: "End" });
    expect(chart.getAttribute("aria-valuetext")).toMatch(/^run 3, failed, started .*, 1 m$/);
    fireEvent.keyDown(chart, { key: "ArrowLeft" });
    fireEvent.keyDown(chart, { key: "Enter" });
    expect(location.pathname).toBe("/runs/2");
  });

  it("chooses a range of time by dragging, in either direction", () => {
    const chosen = vi.fn<(since: string, until: string) => void>();
    render(<Scatter data={{ points: POINTS, is_cut: false }} onRange={chosen} />);
    const chart = screen.getByRole("slider");
    point(chart, "pointerdown", 700, 50);
    point(chart, "pointermove", 300, 50);
    point(chart, "pointerup", 300, 50);
    const [since = "", until = ""] = chosen.mock.calls[0] ?? [];
    expect(Date.parse(since)).toBeLessThan(Date.parse(until));
    expect(Date.parse(since)).toBeGreaterThan(Date.parse("2026-03-01T11:00:00Z"));
    expect(Date.parse(until)).toBeLessThan(Date.parse("2026-03-01T12:00:00Z"));
  });

  it("opens the run that is clicked", () => {
    history.replaceState(null, "", "/");
    render(<Scatter data={{ points: POINTS, is_cut: false }} onRange={vi.fn()} />);
    const chart = screen.getByRole("slider");
    const at = plotted(POINTS, FRAME).points[0];
    point(chart, "pointerdown", at?.x ?? 0, at?.y ?? 0);
    point(chart, "pointerup", at?.x ?? 0, at?.y ?? 0);
    expect(location.pathname).toBe("/runs/1");
  });

  it.each([
    ["ArrowRight", -1, 0],
    ["ArrowLeft", -1, 9],
    ["Home", 5, 0],
    ["End", 5, 9],
    ["ArrowRight", 9, 9],
    ["x", 5, null],
  ])("%s goes from %d to %o", (key, from, to) => expect(stepped(key, from, 9)).toBe(to));
});
