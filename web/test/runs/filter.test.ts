import { describe, expect, it } from "vitest";

import {
  bulkFilter,
  cliWords,
  filterIn,
  isEverything,
  queryText,
  runsAddress,
} from "../../src/pages/runs/filter";

const ADDRESS =
  "state=failed&state=retrying&program=orders&version=3&attempt=4&due_within=5m&error_kind=http" +
  "&fingerprint=42018f0d84eb&text=a+b&label=team%3Dcore&label=env%3Dprod&since=24h&until=1h&running_longer_than=10m";

function read(text: string) {
  return filterIn(new URLSearchParams(text));
}

describe("a filter", () => {
  it("is the same after it went through an address", () => {
    const filter = read(ADDRESS);
    expect(read(queryText(filter))).toEqual(filter);
    expect(runsAddress(filter)).toBe(`/?${queryText(filter)}`);
  });

  it("is shown alike however the words of an address are ordered", () => {
    expect(queryText(read("since=1h&state=failed&state=running"))).toBe(
      queryText(read("state=running&state=failed&since=1h")),
    );
  });

  it.each([
    ["state=exploded", "a state that is none"],
    ["attempt=many", "an attempt that is not a number"],
    ["attempt=-1", "an attempt before the first"],
    ["label=nonsense", "a label without a value"],
    ["label==x", "a label without a name"],
    ["text=", "nothing to search for"],
    ["version=3", "a version of no program"],
    ["colour=red", "a word that is none"],
  ])("leaves out %s: %s", (text) => {
    expect(isEverything(read(text))).toBe(true);
  });

  it("is said to the server in its own words, whole numbers as numbers", () => {
    expect(bulkFilter(read(ADDRESS))).toEqual({
      state: ["retrying", "failed"],
      program: "orders",
      version: 3,
      attempt: 4,
      due_within: "5m",
      error_kind: "http",
      fingerprint: "42018f0d84eb",
      text: "a b",
      label: ["team=core", "env=prod"],
      since: "24h",
      until: "1h",
      running_longer_than: "10m",
    });
  });

  it("is said on a command line as options", () => {
    expect(cliWords(read("state=dead&due_within=5m&label=a%3Db+c"))).toEqual([
      "--state",
      "dead",
      "--due-within",
      "5m",
      "--label",
      "a=b c",
    ]);
  });
});
