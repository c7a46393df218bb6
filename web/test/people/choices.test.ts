import { describe, expect, it } from "vitest";

import { choicesOf, picked } from "../../src/pages/people/choices";

function shown(...labels: string[]): string[] {
  return choicesOf(labels).map(({ key, text }) => `${key ?? "-"} ${text}`);
}

describe("the keys of choices", () => {
  it("are the letters they name, in each of the ways to name one", () => {
    expect(shown("[Y] Yes", "n) No", "L - Later", "[ß] Maß")).toEqual([
      "Y Yes",
      "n No",
      "L Later",
      "ß Maß",
    ]);
  });

  it("are numbers where a choice names no letter, or one that is taken", () => {
    expect(shown("Yes", "[Y] Yes, all", "[y] Yes, twice", "e-mail", "[ok] Fine")).toEqual([
      "1 Yes",
      "Y Yes, all",
      "3 [y] Yes, twice",
      "4 e-mail",
      "5 [ok] Fine",
    ]);
  });

  it("never mean two choices, and there are nine numbers", () => {
    expect(shown("[2] One", "Two")).toEqual(["2 One", "- Two"]);
    const many = choicesOf(Array.from({ length: 11 }, (_, at) => `choice ${at}`));
    expect(many.map((one) => one.key)).toEqual([..."123456789", null, null]);
  });

  it("do not depend on the shift key, and send the whole label", () => {
    expect(picked(choicesOf(["[Y] Yes", "No"]), "y")?.label).toBe("[Y] Yes");
    expect(picked(choicesOf(["[Y] Yes", "No"]), "x")).toBeUndefined();
  });
});
