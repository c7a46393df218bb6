import { describe, expect, it } from "vitest";

import { familyOf, toneOf } from "../../src/pages/run/events/families";
import { summaryOf } from "../../src/pages/run/events/summary";
import { jsonLines, placeOf, wantedRows } from "../../src/pages/run/events/wanted";
import { event, FAILED_TASK, ofTask, ROWS } from "./fixtures";

describe("an event in one line", () => {
  it("says of an outcome what came back and what was decided", () => {
    expect(summaryOf(FAILED_TASK)).toBe(
      "attempt 1 failed · HTTP 429 · rate_limit: slow down · rule 2 retry",
    );
  });

  it("says of a retry which attempt comes, when and why", () => {
    const retry = ofTask(7, "task.retry_scheduled", {
      attempts: 8,
      delay_seconds: 60,
      retry_after_seconds: 60,
      last_error: "HTTP 429",
    });
    expect(summaryOf(retry)).toBe("attempt 2 of 8 in 1 m · Retry-After 1 m · HTTP 429");
  });

  it.each([
    ["run.started", { entry: "fetch" }, "begins at fetch"],
    ["run.failed", { error: { kind: "timeout", message: "late" } }, "timeout: late"],
    [
      "loop.started",
      { items: [1, 2], mode: "parallel", max_in_flight: 8 },
      "2 items · parallel · 8 at a time",
    ],
    ["loop.done", { total: 5, done: 4, failed: 1 }, "4 of 5 done · 1 failed"],
    [
      "next.evaluated",
      { event: "step.done", arcs: [{}], tokens: [] },
      "after step.done · none of 1 arc holds",
    ],
    [
      "next.evaluated",
      { event: "step.done", tokens: [{ to: "a" }, { to: "b" }] },
      "after step.done · goes to a, b",
    ],
    ["human.answered", { answer: "yes", label: "[Y] Yes", by: "ann" }, "[Y] Yes · by ann"],
    [
      "wait.skipped",
      { waited_for: "retry", not_before: "2026-03-01T12:00:41.127Z", by: "ann" },
      "the retry goes on now · 41 s early · by ann",
    ],
    ["something.new", { a: 1 }, '{"a":1}'],
    ["step.started", {}, "a worker took it"],
  ])("tells %s with %j as: %s", (name, data, text) => {
    expect(summaryOf(event(1, name, { data }))).toBe(text);
  });

  it("holds with data of any shape", () => {
    const names = [
      ...new Set(ROWS.map((row) => row.name)),
      "task.retry_scheduled",
      "branch.joined",
    ];
    const odd = {
      error: 3,
      outcome: "x",
      tokens: "y",
      items: null,
      arcs: {},
      inputs: [],
      deadline: 1,
    };
    for (const name of names)
      expect(typeof summaryOf(event(1, name, { data: odd }))).toBe("string");
  });

  it("stays one line, however much was said", () => {
    const long = summaryOf(
      event(1, "run.cancelled", { data: { reason: "so\nlong ".repeat(1_000) } }),
    );
    expect(long.length).toBeLessThan(200);
    expect(long).not.toContain("\n");
  });
});

describe("what kind of event it is", () => {
  it("has a family and a tone", () => {
    expect(familyOf("loop.iteration.done")).toBe("loop");
    expect(familyOf("something.new")).toBeNull();
    expect(toneOf(FAILED_TASK)).toBe("bad");
    expect(toneOf(event(1, "step.failed", { data: { handled: true } }))).toBe("late");
    expect(toneOf(event(1, "something.new"))).toBe("calm");
  });

  it("has a place", () => {
    expect(placeOf(FAILED_TASK)).toBe("fetch.page");
    const item = event(1, "task.started", { step: "ask", visit: 2, iteration: 0, task: "ask" });
    expect(placeOf(item)).toBe("ask[0] visit 2");
  });
});

describe("which events are wanted", () => {
  const seqs = (wanted: Parameters<typeof wantedRows>[1]) =>
    wantedRows(ROWS, wanted).map((row) => row.seq);

  it("are those of families, of a step, with a text anywhere in them", () => {
    expect(seqs({ families: ["run", "task"], step: null, text: "" })).toEqual([1, 2, 5, 6]);
    expect(seqs({ families: [], step: "store", text: "" })).toEqual([7]);
    expect(seqs({ families: [], step: null, text: " SLOW " })).toEqual([6]);
    expect(seqs({ families: ["step"], step: "fetch", text: "nowhere" })).toEqual([]);
  });

  it("are taken along one JSON per line", () => {
    const lines = jsonLines(ROWS).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(ROWS);
  });
});
