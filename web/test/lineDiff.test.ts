import { describe, expect, it } from "vitest";

import { lineDiff } from "../src/parts/lineDiff";

function told(before: string, after: string): string[] {
  const signs = { same: " ", old: "-", new: "+" };
  return lineDiff(before, after).map((line) => signs[line.kind] + line.text);
}

describe("the difference of two documents", () => {
  it("keeps the lines that both have", () => {
    expect(told("a\nb\nc\nd", "a\nx\nc\ne\nd")).toEqual([" a", "-b", "+x", " c", "+e", " d"]);
  });

  it("is nothing for the same document, and everything for another", () => {
    expect(told("a\nb", "a\nb")).toEqual([" a", " b"]);
    expect(told("a", "b")).toEqual(["-a", "+b"]);
  });

  it("has every line of both, in order and with its number", () => {
    const words = ["a", "b", "", "c"];
    let seed = 1;
    const draw = (): string => words[(seed = (seed * 48_271) % 2_147_483_647) % 4] ?? "";
    for (let turn = 0; turn < 200; turn++) {
      const [before, after] = [12, 9].map((size) => Array.from({ length: size }, draw));
      const lines = lineDiff((before ?? []).join("\n"), (after ?? []).join("\n"));
      const old = lines.filter((line) => line.kind !== "new");
      const young = lines.filter((line) => line.kind !== "old");
      expect(old.map((line) => line.text)).toEqual(before);
      expect(young.map((line) => line.text)).toEqual(after);
      expect(old.map((line) => line.oldLine)).toEqual(old.map((_, index) => index + 1));
      expect(young.map((line) => line.newLine)).toEqual(young.map((_, index) => index + 1));
    }
  });

  it("gives up the search, and not the page, where documents are too long for it", () => {
    const before = Array.from({ length: 5_000 }, (_, n) => `old ${n}`);
    const after = Array.from({ length: 5_000 }, (_, n) => `new ${n}`);
    const lines = lineDiff(
      ["head", ...before, "tail"].join("\n"),
      ["head", ...after, "tail"].join("\n"),
    );
    expect(lines).toHaveLength(10_002);
    expect(lines.filter((line) => line.kind === "same").map((line) => line.text)).toEqual([
      "head",
      "tail",
    ]);
  });
});
