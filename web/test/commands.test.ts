import { describe, expect, it } from "vitest";

import { cliText, curlText, option, quoted } from "../src/parts/Commands";

const ORIGIN = "http://127.0.0.1:8700";

describe("the command line of a button", () => {
  it("keeps hostile text one word of a shell", () => {
    expect(quoted("fetch")).toBe("fetch");
    expect(quoted("a b; rm -rf $HOME")).toBe("'a b; rm -rf $HOME'");
    expect(quoted("it's")).toBe(`'it'\\''s'`);
  });

  it("names the server it was taken from, and never a token", () => {
    const command = {
      cli: ["retry", "7", "--from", "a step"],
      method: "POST",
      path: "/api/v1/runs/7/retry",
      body: { step: "a step" },
    } as const;
    expect(cliText(command, ORIGIN)).toBe(`anew retry 7 --from 'a step' --server ${ORIGIN}`);
    expect(curlText(command, ORIGIN)).toContain(`-d '{"step":"a step"}' ${ORIGIN}/api/v1/runs/7`);
    expect(curlText(command, ORIGIN)).toContain("$ANEW_TOKEN");
  });

  it("takes words that start with a hyphen for what they are", () => {
    expect(option("--by", "ann")).toEqual(["--by", "ann"]);
    expect(option("--by", "--no-wait")).toEqual(["--by=--no-wait"]);
    const command = { cli: ["answer", "7"], cliLast: ["-x y"], method: "POST", path: "/" } as const;
    expect(cliText(command, ORIGIN)).toBe(`anew answer 7 --server ${ORIGIN} -- '-x y'`);
  });
});
