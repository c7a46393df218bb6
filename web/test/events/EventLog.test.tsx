import { fireEvent, render, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { EventRow } from "../../src/api/types";
import { EventLog } from "../../src/pages/run/events/EventLog";
import { jsonLines } from "../../src/pages/run/events/wanted";
import { giveLayout } from "../fixtures/layout";
import { event, HOSTILE, log, ROWS } from "./fixtures";

beforeEach(() => {
  giveLayout();
  history.replaceState(null, "", "/runs/9?tab=events");
});

function show(rows: readonly EventRow[] = ROWS, at: number | null = null) {
  return render(<EventLog run="9" log={log(rows)} step={null} at={at} />);
}

function names(): (string | null | undefined)[] {
  const [, ...rows] = within(screen.getByRole("table")).getAllByRole("row");
  return rows.map((row) => within(row).getAllByRole("cell")[2]?.textContent);
}

describe("the log of a run", () => {
  it("shows every event with its place and what happened, as text", () => {
    show();
    expect(names()).toEqual(ROWS.map((row) => row.name));
    expect(screen.getByText(`requested · program ${HOSTILE}`)).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
  });

  it("shows the families and the text that are looked for, and keeps them in the address", () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: "task" }));
    expect(names()).toEqual(["task.started", "task.processed"]);
    fireEvent.change(screen.getByRole("searchbox"), { target: { value: "slow down" } });
    expect(names()).toEqual(["task.processed"]);
    expect(screen.getByText("1 of 7 events")).toBeTruthy();
    expect(location.search).toContain("family=task&text=slow+down");
  });

  it("opens one whole, and moves on from it", () => {
    show();
    fireEvent.click(screen.getByText("the text of event 2"));
    const detail = screen.getByRole("region", { name: "Event" });
    expect(detail.textContent).toContain('entry: "fetch"');
    fireEvent.click(within(detail).getByRole("button", { name: "After" }));
    expect(screen.getByRole("region", { name: "Event" }).textContent).toContain("step.scheduled");
    fireEvent.keyDown(screen.getByRole("region", { name: "Event" }), { key: "Escape" });
    expect(screen.queryByRole("region", { name: "Event" })).toBeNull();
  });

  it("shows the run as of an event", () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: "Show the run as of event 4" }));
    expect(location.search).toContain("at=4");
  });

  it("marks the event that the run is shown as of", () => {
    show(ROWS, 4);
    const button = screen.getByRole("button", { name: "Show the run as of event 4" });
    expect(button.getAttribute("aria-pressed")).toBe("true");
  });

  it("focuses the search with a key", () => {
    show();
    fireEvent.keyDown(window, { key: "/" });
    expect(document.activeElement).toBe(screen.getByRole("searchbox"));
  });

  it("makes only the rows in sight", () => {
    show(Array.from({ length: 10_000 }, (_, index) => event(index + 1, "loop.iteration.done")));
    expect(screen.getAllByRole("row").length).toBeLessThan(60);
    expect(screen.getByRole("table").getAttribute("aria-rowcount")).toBe("10001");
  });

  it("is taken along as a file of the events that are listed", () => {
    const blobs: Blob[] = [];
    URL.createObjectURL = (blob) => `blob:${blobs.push(blob as Blob)}`;
    URL.revokeObjectURL = () => undefined;
    const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockReturnValue();
    history.replaceState(null, "", "/runs/9?tab=events&family=run");
    show();
    fireEvent.click(screen.getByRole("button", { name: "Download" }));
    expect(click).toHaveBeenCalledOnce();
    const listed = ROWS.filter((row) => row.name.startsWith("run."));
    expect(blobs[0]?.size).toBe(new Blob([jsonLines(listed)]).size);
  });
});

describe("a log that grows", () => {
  const many = Array.from({ length: 200 }, (_, index) => event(index + 101, "step.started"));

  it("stays at its end, until someone scrolls up; then what they see stays in place", () => {
    vi.spyOn(Element.prototype, "scrollHeight", "get").mockReturnValue(6_500);
    const { rerender } = show(many);
    const table = screen.getByRole("table");
    expect(table.scrollTop).toBe(6_500);
    table.scrollTop = 1_000;
    fireEvent.scroll(table);
    rerender(
      <EventLog run="9" log={log([...many, event(301, "run.done")])} step={null} at={null} />,
    );
    expect(table.scrollTop).toBe(1_000);
    const older = [event(99, "step.started"), event(100, "step.started")];
    rerender(<EventLog run="9" log={log([...older, ...many])} step={null} at={null} />);
    expect(table.scrollTop).toBe(1_000 + 2 * 32);
  });
});
