import { render } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import type { OpenJob, RunListed } from "../../src/api/types";
import { noteServerTime } from "../../src/parts/Time";
import { Standing } from "../../src/pages/runs/table/Standing";
import { asking, failed, HOSTILE, NOW, retrying, run } from "./fixtures";

function said(row: RunListed): string {
  return render(<Standing row={row} />).container.textContent;
}

function open(job: Partial<OpenJob>, state: RunListed["state"]): RunListed {
  const whole: OpenJob = {
    reason: "ready",
    step: "fetch",
    attempt: 1,
    due_at: null,
    is_leased: false,
    ...job,
  };
  return run(9, { status: "running", state, ended_at: null, open: whole });
}

describe("what a run waits for", () => {
  beforeEach(() => noteServerTime(NOW));

  it("is a retry with its attempt and the time that is left", () => {
    expect(said(retrying)).toMatch(/^fetch, attempt 4, in 0:4[12]$/);
  });

  it("is due once its time has come", () => {
    noteServerTime("2026-03-01T12:00:50.000000Z");
    expect(said(retrying)).toBe("fetch, attempt 4, due now");
  });

  it("is the question people are asked, as text", () => {
    expect(said(asking)).toBe(`Release ${HOSTILE}?`);
    expect(document.querySelector("img")).toBeNull();
  });

  it("is the error it ended with", () => {
    expect(said(failed)).toBe("exit_code no such account");
  });

  it("is whatever a tool has made of an error", () => {
    const odd = { kind: "odd", message: { deep: [1] } };
    expect(said(run(4, { status: "failed", state: "failed", error: odd }))).toBe(
      'odd {"deep":[1]}',
    );
  });

  it("is nothing for a run that is done", () => {
    expect(said(run(5))).toBe("");
  });

  it.each<[Partial<OpenJob>, RunListed["state"], string]>([
    [{ is_leased: true }, "running", "fetch, running"],
    [{ is_leased: true, attempt: 2 }, "running", "fetch, attempt 2, running"],
    [{}, "running", "fetch, waits for a worker"],
    [{ reason: "child" }, "parked", "fetch, waits for a child run"],
    [{ reason: "held" }, "paused", "fetch, held while the run is paused"],
    [{ reason: "sleep" }, "parked", "fetch, sleeps"],
  ])("is shown of a job: %o in a run that is %s", (job, state, text) => {
    expect(said(open(job, state))).toBe(text);
  });
});
