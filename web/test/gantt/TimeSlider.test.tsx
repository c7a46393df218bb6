import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { EventRow } from "../../src/api/types";
import { TimeSlider } from "../../src/pages/run/TimeSlider";
import { HOSTILE } from "../fixtures/pictures";

const EVENT: EventRow = {
  seq: 120,
  at: "2026-03-01T12:00:41Z",
  name: "task.processed",
  step: HOSTILE,
  visit: 1,
  iteration: null,
  task: "fetch",
  attempt: 3,
  data: {},
  text: "task fetch ok",
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function slider(at: number | null, onChange: (at: number | null) => void): HTMLInputElement {
  render(<TimeSlider newest={400} at={at} onChange={onChange} event={EVENT} />);
  return screen.getByRole<HTMLInputElement>("slider");
}

function rest(): void {
  act(() => vi.advanceTimersByTime(1_000));
}

describe("the slider over the events of a run", () => {
  it("says the number, the time and the name of the event", () => {
    const input = slider(120, vi.fn());
    expect(input.getAttribute("aria-valuetext")).toBe("event 120 of 400, task.processed");
    expect(screen.getByText("120 / 400")).toBeTruthy();
    expect(screen.getByText("task.processed")).toBeTruthy();
    expect(screen.getByText(HOSTILE)).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
  });

  it("tells only where it comes to rest", () => {
    const onChange = vi.fn();
    const input = slider(null, onChange);
    for (let to = 399; to > 300; to--) fireEvent.change(input, { target: { value: String(to) } });
    expect(input.value).toBe("301");
    expect(onChange).not.toHaveBeenCalled();
    rest();
    expect(onChange.mock.calls).toEqual([[301]]);
  });

  it.each([
    ["ArrowLeft", 119],
    ["ArrowRight", 121],
    ["PageUp", 140],
    ["PageDown", 100],
    ["Home", 1],
    ["End", null],
  ])("goes with %s to %s", (key, to) => {
    const onChange = vi.fn();
    fireEvent.keyDown(slider(120, onChange), { key });
    rest();
    expect(onChange.mock.calls).toEqual([[to]]);
  });

  it.each([
    ["First event", 1],
    ["Event before", 119],
    ["Next event", 121],
    ["Now: the newest event", null],
  ])("goes with the button %s to %s", (name, to) => {
    const onChange = vi.fn();
    slider(120, onChange);
    fireEvent.click(screen.getByRole("button", { name }));
    rest();
    expect(onChange.mock.calls).toEqual([[to]]);
  });

  it("is at the newest event now, and does not say another event's name", () => {
    const input = slider(null, vi.fn());
    expect(input.value).toBe("400");
    expect(screen.getByText("now")).toBeTruthy();
    expect(screen.queryByText("task.processed")).toBeNull();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Next event" }).disabled).toBe(
      true,
    );
  });
});
