import { describe, expect, it } from "vitest";

import { CHANGES_MAX, changesOf } from "../../src/pages/run/tabs/valueDiff";

describe("what changed in a value", () => {
  it("is told by path: set, taken away, changed", () => {
    const before = { page: 1, gone: true, orders: [{ id: 1 }], same: { deep: [1, 2] } };
    const after = { page: 2, orders: [{ id: 1 }, { id: 7 }], same: { deep: [1, 2] }, "a b": null };
    expect(changesOf(before, after)).toEqual([
      { path: "page", before: 1, after: 2 },
      { path: "gone", before: true, after: undefined },
      { path: "orders[1]", before: undefined, after: { id: 7 } },
      { path: '["a b"]', before: undefined, after: null },
    ]);
  });

  it("does not take null for something that is missing", () => {
    expect(changesOf({ a: null }, {})).toEqual([{ path: "a", before: null, after: undefined }]);
    expect(changesOf({ a: [] }, { a: {} })).toHaveLength(1);
    expect(changesOf({ a: {} }, { a: {} })).toEqual([]);
  });

  it("is bounded", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`n${n}`, n]));
    expect(changesOf({}, many)).toHaveLength(CHANGES_MAX);
  });

  it("reads members that have the names of an object's own", () => {
    const after = JSON.parse('{"__proto__": 1, "constructor": 2}') as { [name: string]: number };
    expect(changesOf({}, after).map((change) => change.path)).toEqual(["__proto__", "constructor"]);
  });
});
