import { expect, it } from "vitest";

import {
  allToggled,
  EVERY_MATCH,
  isEmpty,
  NOTHING,
  toggled,
} from "../../src/pages/runs/table/choice";

it("a run is ticked and unticked", () => {
  const one = toggled(NOTHING, "1", ["1", "2"]);
  expect([...one.runs]).toEqual(["1"]);
  expect(isEmpty(toggled(one, "1", ["1", "2"]))).toBe(true);
});

it("whoever unticks one of all that match keeps only runs that were seen", () => {
  const rest = toggled(EVERY_MATCH, "1", ["1", "2", "3"]);
  expect(rest.isAll).toBe(false);
  expect([...rest.runs]).toEqual(["2", "3"]);
});

it("all rows are ticked, then none, and those ticked elsewhere stay", () => {
  const all = allToggled({ runs: new Set(["9"]), isAll: false }, ["1", "2"]);
  expect([...all.runs]).toEqual(["9", "1", "2"]);
  expect(isEmpty(allToggled(all, ["1", "2"]))).toBe(true);
  expect(isEmpty(allToggled(EVERY_MATCH, ["1"]))).toBe(true);
});
