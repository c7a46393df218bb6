import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { LanesShown } from "../../src/api/types";
import { Gantt } from "../../src/gantt/Gantt";
import {
  bar,
  BEGIN,
  BRANCHES_LANES,
  HOSTILE,
  lane,
  LOOP_LANES,
  manyLanes,
  RETRYING_LANES,
} from "../fixtures/pictures";

const NOBODY = (): void => undefined;

beforeEach(() => {
  history.replaceState(null, "", "/runs/7");
  // There is no layout here: a chart of 1,000 by 460 pixels, 240 of them for names.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(460);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(1_000);
});
afterEach(() => vi.useRealTimers());

interface Asked {
  now?: string | null;
  onSelect?: (step: string | null) => void;
  onAttempt?: (step: string, attempt: number, visit: number) => void;
}

function shown(lanes: LanesShown, asked: Asked = {}): HTMLElement {
  const { now = null, onSelect = NOBODY, onAttempt = NOBODY } = asked;
  return render(
    <Gantt lanes={lanes} now={now} selected={null} onSelect={onSelect} onAttempt={onAttempt} />,
  ).container;
}

function widthOf(element: Element): number {
  return Number(element.querySelector("rect")?.getAttribute("width"));
}

/** What jsdom has no events for: a mouse as a pointer. */
function point(target: Element, type: string, clientX: number): void {
  const event = new MouseEvent(type, { bubbles: true, clientX, button: 0 });
  Object.defineProperty(event, "pointerType", { value: "mouse" });
  fireEvent(target, event);
}

describe("the lanes of a run", () => {
  it("have a bar for each attempt and a hatched one for each wait", () => {
    const container = shown(RETRYING_LANES);
    const [, row] = screen.getAllByRole("row");
    if (row === undefined) throw new Error("there is no lane");
    const bars = within(row).getAllByRole("button").slice(1);
    expect(bars).toHaveLength(9);
    expect(bars[1]?.getAttribute("aria-label")).toBe(
      "attempt that failed, task fetch, attempt 1, at 0.6 s, for 3.6 s",
    );
    expect(bars[8]?.getAttribute("aria-label")).toMatch(
      /^delay the server asked for, task fetch, before attempt 4, at 36 s, for .* so far$/,
    );
    expect(bars[8]?.querySelector("rect")?.getAttribute("fill")).toBe(
      "url(#gantt-hatch-retry_after)",
    );
    expect(container.querySelector("#gantt-hatch-retry_after")).toBeTruthy();
    expect(bars[1]?.querySelector("rect")?.getAttribute("fill")).toBeNull();
  });

  it("tell in the legend only what occurs", () => {
    shown(RETRYING_LANES);
    const legend = screen.getByRole("list", { name: "What the bars mean" });
    const words = within(legend)
      .getAllByRole("listitem")
      .map((one) => one.textContent);
    expect(words).toEqual([
      "attempt that succeeded",
      "attempt that failed",
      "attempt that was lost or cancelled",
      "retry delay",
      "delay the server asked for",
      "waiting for a worker",
    ]);
  });

  it("grow while the run continues, and not afterwards", () => {
    vi.useFakeTimers({ now: Date.parse(BEGIN) + 97_000 });
    const open = (): Element => screen.getByRole("button", { name: /so far$/ });
    const container = shown(RETRYING_LANES, { now: BEGIN });
    act(() => vi.advanceTimersByTime(300));
    const before = widthOf(open());
    act(() => vi.advanceTimersByTime(2_000));
    expect(widthOf(open())).toBeGreaterThan(before);
    expect(container.querySelector(".gantt-now")).toBeTruthy();
  });

  it("stand still at a past moment", () => {
    vi.useFakeTimers({ now: Date.parse(BEGIN) + 97_000 });
    const container = shown(RETRYING_LANES);
    const before = widthOf(screen.getByRole("button", { name: /so far$/ }));
    act(() => vi.advanceTimersByTime(3_000));
    expect(widthOf(screen.getByRole("button", { name: /so far$/ }))).toBe(before);
    expect(container.querySelector(".gantt-now")).toBeNull();
  });

  it("let a short attempt be hit as easily as a long one", () => {
    const onAttempt = vi.fn();
    const container = shown(RETRYING_LANES, { onAttempt });
    const reach = container.querySelectorAll(".gantt-reach");
    expect([...reach].map((one) => one.getAttribute("width"))).toEqual(["12"]);
    if (reach[0]) fireEvent.click(reach[0]);
    expect(onAttempt).toHaveBeenCalledWith("start", 1, 1);
  });

  it("are areas where there are too many bars, with the counts of the loop", () => {
    shown(LOOP_LANES);
    expect(screen.getByText("2,214 / 2,500 · 3 failed")).toBeTruthy();
    const density = screen.getByRole("button", { name: /^2,391 attempts, up to .* 27 errors$/ });
    expect(density.querySelectorAll(".gantt-density-errors").length).toBeGreaterThan(5);
  });

  it("are made only where they are in sight", () => {
    const container = shown(manyLanes(200, 4));
    expect(container.querySelector(".gantt-rows")?.getAttribute("aria-rowcount")).toBe("200");
    expect(container.querySelectorAll(".gantt-row").length).toBeLessThan(40);
  });

  it("show hostile names as text", () => {
    const lanes = [lane(HOSTILE, [bar(0, 5, "ok", { task: HOSTILE, attempt: 1 })])];
    const container = shown({ begin: BEGIN, seconds: 5, more: 0, lanes });
    expect(container.querySelector("img")).toBeNull();
    fireEvent.pointerMove(screen.getByRole("button", { name: /attempt that succeeded/ }));
    expect(screen.getByRole("tooltip").textContent).toContain(HOSTILE);
    expect(container.querySelector("img")).toBeNull();
  });

  it("say how many are left out, and what to expect where there are none", () => {
    shown({ ...RETRYING_LANES, more: 12 });
    expect(screen.getByText(/12 more steps that succeeded are left\s+out/)).toBeTruthy();
    shown({ begin: BEGIN, seconds: 0, more: 0, lanes: [] });
    expect(screen.getByText(/No step has started yet/)).toBeTruthy();
  });

  it("can be read as a table", () => {
    shown(BRANCHES_LANES);
    fireEvent.click(screen.getByRole("button", { name: "Show as a table" }));
    expect(location.search).toBe("?times=table");
    const row = screen.getByRole("row", { name: /^unit_tests/ });
    expect(row.textContent).toContain("4 failed");
    expect(row.textContent).toContain("1 m retry delay, 1 m delay of a jump");
    fireEvent.click(screen.getByRole("button", { name: "Show as a chart" }));
    expect(screen.getByRole("grid")).toBeTruthy();
  });
});

describe("the keyboard in the lanes", () => {
  it("has one stop, from which arrow keys reach every bar; Enter opens its attempt", async () => {
    const [onSelect, onAttempt] = [vi.fn(), vi.fn()];
    const container = shown(RETRYING_LANES, { onSelect, onAttempt });
    const grid = screen.getByRole("grid");
    const stops = (): Element[] => [...grid.querySelectorAll('[tabindex="0"]')];
    expect(stops().map((one) => one.getAttribute("aria-label"))).toEqual([
      "start, 1 attempt, done",
    ]);
    act(() => (stops()[0] as HTMLElement).focus());
    const press = async (key: string, name: RegExp): Promise<void> => {
      if (document.activeElement) fireEvent.keyDown(document.activeElement, { key });
      await waitFor(() => expect(document.activeElement?.getAttribute("aria-label")).toMatch(name));
    };
    await press("ArrowDown", /^fetch_orders, 3 attempts, retrying/);
    await press("ArrowRight", /^waiting for a worker/);
    await press("ArrowRight", /attempt 1, at 0.6 s/);
    expect(stops()).toHaveLength(1);
    if (document.activeElement) fireEvent.keyDown(document.activeElement, { key: "Enter" });
    expect(onAttempt).toHaveBeenCalledWith("fetch_orders", 1, 1);
    await press("End", /^delay the server asked for/);
    await press("Home", /^fetch_orders/);
    if (document.activeElement) fireEvent.keyDown(document.activeElement, { key: "Enter" });
    expect(onSelect).toHaveBeenCalledWith("fetch_orders");
    expect(container.querySelector('[role="tooltip"]')).toBeNull();
  });
});

describe("the stretch that is shown", () => {
  it("comes from the address, and goes into it where it rests", async () => {
    history.replaceState(null, "", "/runs/7?span=36-60");
    shown(RETRYING_LANES);
    const [, row] = screen.getAllByRole("row");
    expect(row?.querySelectorAll(".gantt-bar")).toHaveLength(2);
    fireEvent.click(screen.getByRole("button", { name: "Show all the time there is" }));
    await waitFor(() => expect(location.search).toBe(""));
    expect(row?.querySelectorAll(".gantt-bar")).toHaveLength(9);
    fireEvent.click(screen.getByRole("button", { name: "Zoom in" }));
    await waitFor(() => expect(location.search).toBe("?span=18-78"));
  });

  it("is what a mouse was dragged over; that is no click on a bar", async () => {
    const onAttempt = vi.fn();
    shown(RETRYING_LANES, { onAttempt });
    const target = screen.getByRole("button", { name: /attempt 2, at 8.2 s/ });
    point(target, "pointerdown", 240 + 190);
    point(target, "pointermove", 240 + 380);
    point(target, "pointerup", 240 + 380);
    fireEvent.click(target);
    await waitFor(() => expect(location.search).toBe("?span=24-48"));
    expect(onAttempt).not.toHaveBeenCalled();
    point(target, "pointerdown", 300);
    point(target, "pointerup", 300);
    fireEvent.click(screen.getByRole("button", { name: /attempt 3, at 31 s/ }));
    expect(onAttempt).toHaveBeenCalledWith("fetch_orders", 3, 1);
  });

  it("zooms with Ctrl and the wheel, which otherwise scrolls", () => {
    shown(RETRYING_LANES);
    const grid = screen.getByRole("grid");
    expect(fireEvent.wheel(grid, { deltaY: -300, clientX: 600 })).toBe(true);
    expect(fireEvent.wheel(grid, { deltaY: -300, clientX: 600, ctrlKey: true })).toBe(false);
    const all = screen.getByRole<HTMLButtonElement>("button", { name: /^Show all/ });
    expect(all.disabled).toBe(false);
  });
});
