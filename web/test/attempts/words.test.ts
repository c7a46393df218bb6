import { describe, expect, it } from "vitest";

import { exhaustedWords, skippedWords } from "../../src/pages/run/attempts/delayWords";
import { attemptName, outcomeWord } from "../../src/pages/run/attempts/attemptWords";
import { lineText, logLines, printedBy, streamsOf } from "../../src/pages/run/attempts/logLines";
import { attempt, HOSTILE } from "./fixtures";

describe("what became of a delay", () => {
  it("says who did not wait for it", () => {
    const at = "2026-03-01T14:05:00.000000Z";
    const told = skippedWords(attempt(2, { skipped: { at, by: "ann", early_seconds: 3115 } }));
    expect(told).toBe("skipped by ann, 51 m 55 s early");
    const unknown = attempt(2, { skipped: { at, by: null, early_seconds: null } });
    expect(skippedWords(unknown)).toBe("skipped");
    expect(skippedWords(attempt(2))).toBeNull();
  });

  it("says why there is no further attempt", () => {
    const spent = { exhausted: "attempts", delay: null };
    expect(exhaustedWords(attempt(8, spent))).toBe("no attempt left (8 of 8)");
    expect(exhaustedWords(attempt(3, { exhausted: "max_elapsed" }))).toContain("max_elapsed");
    expect(exhaustedWords(attempt(3))).toBeNull();
  });
});

describe("an attempt in words", () => {
  it("is shown by its place, its number and how it came out", () => {
    const one = attempt(4, { visit: 2, iteration: 0 });
    expect(attemptName(one)).toBe("fetch.page visit 2 [0], attempt 4 of 8");
    expect(outcomeWord(one)).toBe("rate_limit · HTTP 429");
    const open = attempt(1, { status: "working", http_status: null, error: null, kind: "human" });
    expect(outcomeWord(open)).toBe("asks a person");
  });
});

describe("what an attempt printed", () => {
  const logs = {
    stdout: `first\n${HOSTILE}\n`,
    stderr: "no",
    log: [{ level: "WARNING", logger: "meter", message: "shaky" }, "odd"],
  };

  it("is shown by line, records first", () => {
    expect(streamsOf(logs)).toEqual(["log", "stdout", "stderr"]);
    const lines = logLines(logs, null, "").map(lineText);
    expect(lines).toEqual(["WARNING meter: shaky", "odd", "first", HOSTILE, "no"]);
  });

  it("is searched in one stream or all", () => {
    expect(logLines(logs, null, "FIRST")).toEqual([
      { stream: "stdout", level: null, text: "first" },
    ]);
    expect(logLines(logs, "stderr", "first")).toEqual([]);
    expect(logLines(logs, null, "warning")).toHaveLength(1);
  });

  it("has what its command printed, which is in its result", () => {
    const result = { exit_code: 0, stdout: "two\n", stderr: "" };
    expect(printedBy({ logs: {}, result })).toEqual({ stdout: "two\n" });
    expect(printedBy({ logs: { stdout: "cut" }, result })).toEqual({ stdout: "cut" });
    expect(printedBy({ logs, result: "text" })).toBe(logs);
  });

  it("may be of a shape that nobody knows", () => {
    expect(logLines({ trace: { a: 1 }, count: 3 }, null, "")).toHaveLength(2);
  });
});
