import { describe, expect, it } from "vitest";

import type { Json, JsonObject } from "../../src/api/types";
import { CHANGES_MAX, changesOf, isTextChange, kindOf, type Change } from "../../src/words/diff";

/** Numbers below 1 that are the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const NAMES = ["id", "a b", 'say "hi"', "__proto__", "x.y", "0", "größe", "[1]"];
const LEAVES: Json[] = [null, true, false, 0, -1.5, "", "text", "<b>"];

function value(draw: () => number, depth: number): Json {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(draw() * from.length)] as T;
  if (depth === 0 || draw() < 0.3) return pick(LEAVES);
  const size = Math.floor(draw() * 4);
  if (draw() < 0.5) return Array.from({ length: size }, () => value(draw, depth - 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [pick(NAMES), value(draw, depth - 1)]),
  );
}

/** The words of a path, as a reader of it would take them. */
function wordsOf(path: string): string[] {
  const found = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?([^.[]+)/g);
  return [...found].map(([, name, index, plain]) =>
    name === undefined ? (index ?? plain ?? "") : (JSON.parse(`"${name}"`) as string),
  );
}

/** `before` with the changes made in it. */
function changed(before: Json, changes: readonly Change[]): Json | undefined {
  let root: Json | undefined = structuredClone(before);
  // From the end: what is taken from a list is taken from behind.
  for (const change of changes.toReversed()) {
    const words = wordsOf(change.path);
    const last = words.pop();
    if (last === undefined) {
      root = change.after;
      continue;
    }
    const place = words.reduce((at, word) => (at as JsonObject)[word] as Json, root as Json);
    if (Array.isArray(place)) {
      if (change.after === undefined) place.splice(Number(last), 1);
      else place[Number(last)] = change.after;
    } else if (change.after === undefined) delete (place as JsonObject)[last];
    else {
      Object.defineProperty(place, last, {
        value: change.after,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  return root;
}

describe("how two values differ", () => {
  it("makes the one from the other, whatever they are", () => {
    for (let seed = 1; seed <= 400; seed++) {
      const draw = chance(seed);
      const [before, after] = [value(draw, 4), value(draw, 4)];
      expect(changed(before, changesOf(before, after)), `seed ${seed}`).toEqual(after);
    }
  });

  it("says nothing of what is the same, in whichever order its names stand", () => {
    expect(changesOf({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toEqual([]);
  });

  it("tells the other way round what is shown the one way", () => {
    const [one, other] = [value(chance(7), 5), value(chance(8), 5)];
    const turned = changesOf(other, one).map(({ path, before, after }) => ({
      path,
      before: after,
      after: before,
    }));
    expect(turned).toHaveLength(changesOf(one, other).length);
    expect(turned).toEqual(expect.arrayContaining(changesOf(one, other)));
  });

  it("names the places as people write them", () => {
    const before = { orders: [{ id: 1 }], headers: { "x-id 2": "a" } };
    const after = { orders: [{ id: 2 }, { id: 3 }], headers: {} };
    const told = changesOf(before, after).map((change) => [change.path, kindOf(change)]);
    expect(told).toEqual([
      ["orders[0].id", "changed"],
      ["orders[1]", "added"],
      ['headers["x-id 2"]', "removed"],
    ]);
  });

  it("does not take a list for an object with the same members", () => {
    expect(changesOf(["a"], { 0: "a" })).toHaveLength(1);
  });

  it("stops at its limit", () => {
    const many = Array.from({ length: 10 * CHANGES_MAX }, (_, index) => index);
    expect(
      changesOf(
        many,
        many.map((one) => one + 1),
      ),
    ).toHaveLength(CHANGES_MAX);
  });

  it("tells long texts of several lines by their lines", () => {
    const long = "a line of some length\n".repeat(20);
    const [change] = changesOf({ body: long }, { body: `${long}more` });
    expect(change && isTextChange(change)).toBe(true);
    const [short] = changesOf({ body: "a\nb" }, { body: "a\nc" });
    expect(short && isTextChange(short)).toBe(false);
  });
});
