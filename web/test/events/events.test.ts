import { describe, expect, it } from "vitest";

import { familyOf, toneOf } from "../../src/pages/run/events/families";
import { bare, jsonLines, placeOf, wantedRows } from "../../src/pages/run/events/wanted";
import { event, FAILED_TASK, ROWS } from "./fixtures";

describe("what kind of event it is", () => {
  it("has a family and a tone", () => {
    expect(familyOf("loop.iteration.done")).toBe("loop");
    expect(familyOf("something.new")).toBeNull();
    expect(toneOf(FAILED_TASK)).toBe("bad");
    expect(toneOf(event(1, "step.failed", { data: { handled: true } }))).toBe("late");
    expect(toneOf(event(1, "something.new"))).toBe("calm");
    expect(toneOf(event(1, "task.processed", { data: { outcome: "odd" } }))).toBe("good");
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
    expect(seqs({ families: [], step: null, text: "of event 4" })).toEqual([4]);
    expect(seqs({ families: ["step"], step: "fetch", text: "nowhere" })).toEqual([]);
  });

  it("are taken along one JSON per line", () => {
    const lines = jsonLines(ROWS).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(ROWS.map(bare));
    expect(lines[0]).not.toContain('"text"');
  });
});
