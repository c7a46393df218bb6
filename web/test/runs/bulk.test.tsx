import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";

import type { BulkRequest } from "../../src/api/types";
import { cliText } from "../../src/parts/Commands";
import { bulkCommand, requests, RUNS_EACH_MAX } from "../../src/pages/runs/bulk/bulk";
import { BulkDialog } from "../../src/pages/runs/bulk/BulkDialog";
import { willSay } from "../../src/pages/runs/bulk/words";
import { EVERYTHING, filterIn } from "../../src/pages/runs/filter";
import { bulkDone, HOSTILE, serve, show } from "./fixtures";

const FAILED = filterIn(new URLSearchParams("state=failed&program=orders"));

describe("what a bulk action will do", () => {
  it.each([
    [
      400,
      312,
      "This will retry 312 runs (of 400 that match; 88 cannot be retried in their state).",
    ],
    [3, 3, "This will retry 3 runs: all that match."],
    [1, 1, "This will retry 1 run: all that match."],
    [4, 3, "This will retry 3 runs (of 4 that match; 1 cannot be retried in its state)."],
    [1, 0, "Nothing to do: the run cannot be retried in its state."],
    [7, 0, "Nothing to do: of 7 runs that match, all cannot be retried in their state."],
    [0, 0, "No run matches any more."],
  ])("of %d runs, %d able: %s", (count, able, text) => {
    expect(willSay("retry", { count, able }, true)).toBe(text);
  });
});

describe("the requests of a bulk action", () => {
  it("name every run once, a bounded number at a time", () => {
    const runs = Array.from({ length: 2 * RUNS_EACH_MAX + 1 }, (_, at) => `${at}`);
    const asked = requests("pause", { runs });
    expect(asked.map((one) => one.runs?.length)).toEqual([RUNS_EACH_MAX, RUNS_EACH_MAX, 1]);
    expect(asked.flatMap((one) => one.runs)).toEqual(runs);
  });

  it("are the same on a command line", () => {
    const command = bulkCommand("cancel", { filter: FAILED }, " too late ");
    expect(cliText(command, "http://h")).toBe(
      "anew bulk cancel --state failed --program orders --reason 'too late' --yes --server http://h",
    );
    expect(command.body).toEqual({
      action: "cancel",
      filter: { state: ["failed"], program: "orders" },
      reason: "too late",
    });
  });
});

it("every run there is has a command line, too", () => {
  const { cli } = bulkCommand("pause", { filter: EVERYTHING }, "");
  expect(cli).toEqual(["bulk", "pause", "--since", "1970-01-01", "--yes"]);
});

describe("the dialog of a bulk action", () => {
  it("counts first and changes nothing until it is shown to", async () => {
    const server = serve({
      "POST /api/v1/runs/bulk": () => bulkDone({ count: 400, able: 312 }),
    });
    show(<BulkDialog action="retry" meant={{ filter: FAILED }} onClose={vi.fn()} />);
    await screen.findByText(/This will retry 312 runs \(of 400/);
    const filter = { state: ["failed"], program: "orders" };
    expect(server.bulk).toEqual([{ action: "retry", filter, dry_run: true }]);
    expect(screen.getByLabelText("command line").textContent).toContain("anew bulk retry");
  });

  it("continues page by page, and tells which runs refused", async () => {
    const server = serve({
      "POST /api/v1/runs/bulk": (_, body) => {
        const asked = body as BulkRequest;
        if (asked.dry_run) return bulkDone({ count: 4, able: 4 });
        if (asked.before === undefined)
          return bulkDone({ count: 2, changed: ["9", "8"], next: "8" });
        return bulkDone({
          count: 2,
          changed: ["7"],
          refused: [{ run: "6", detail: HOSTILE, retried_as: null }],
        });
      },
    });
    show(<BulkDialog action="retry" meant={{ filter: FAILED }} onClose={vi.fn()} />);
    fireEvent.click(await screen.findByRole("button", { name: "Retry 4 runs" }));
    await screen.findByText("Finished: 3 runs retried, 1 refusal.");
    expect(server.bulk.slice(1).map((asked) => asked.before)).toEqual([undefined, "8"]);
    expect(screen.getByRole("link", { name: "6" }).getAttribute("href")).toBe("/runs/6");
    expect(screen.getByText(HOSTILE, { exact: false })).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
  });

  it("tells runs that were retried before apart from those that refused", async () => {
    const before = { run: "9", detail: "it was retried before", retried_as: "12" };
    serve({
      "POST /api/v1/runs/bulk": (_, body) =>
        (body as BulkRequest).dry_run
          ? bulkDone({ count: 3, able: 3 })
          : bulkDone({
              count: 3,
              changed: ["8"],
              refused: [before, { run: "7", detail: `as run ${HOSTILE}`, retried_as: null }],
            }),
    });
    show(<BulkDialog action="retry" meant={{ filter: FAILED }} onClose={vi.fn()} />);
    fireEvent.click(await screen.findByRole("button", { name: "Retry 3 runs" }));
    await screen.findByText(
      "Finished: 1 run retried, 1 was retried before and left alone, 1 refusal.",
    );
    const repeats = screen.getByRole("list", { name: "Retried before" });
    expect(repeats.textContent).toBe("9 was retried before: see run 12");
    expect(screen.getByRole("link", { name: "12" }).getAttribute("href")).toBe("/runs/12");
    expect(screen.getByRole("list", { name: "Refused" }).textContent).toBe(`7 as run ${HOSTILE}`);
  });

  it("stops after the request that is under way, and can continue from there", async () => {
    let answer: (() => void) | undefined;
    const server = serve({
      "POST /api/v1/runs/bulk": (_, body) => {
        const asked = body as BulkRequest;
        if (asked.dry_run) return bulkDone({ count: 4, able: 4 });
        if (asked.before !== undefined) return bulkDone({ count: 2, changed: ["7", "6"] });
        return bulkDone({ count: 2, changed: ["9", "8"], next: "8" });
      },
    });
    const direct = globalThis.fetch;
    vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
      if (server.bulk.length === 1) await new Promise<void>((done) => (answer = done));
      return direct(path, init);
    });
    show(<BulkDialog action="cancel" meant={{ filter: FAILED }} onClose={vi.fn()} />);
    fireEvent.click(await screen.findByRole("button", { name: "Cancel 4 runs" }));
    fireEvent.click(await screen.findByRole("button", { name: "Stop" }));
    await waitFor(() => expect(answer).toBeDefined());
    answer?.();
    await screen.findByText("Stopped before the end: 2 runs cancelled.");
    expect(server.bulk).toHaveLength(2);
    fireEvent.click(screen.getByRole("button", { name: "Continue" }));
    await screen.findByText("Finished: 4 runs cancelled.");
    expect(server.bulk[2]?.before).toBe("8");
  });

  it("keeps what was done when the server goes away, and continues when it is back", async () => {
    let isThere = true;
    serve({
      "POST /api/v1/runs/bulk": (_, body) => {
        const asked = body as BulkRequest;
        if (asked.dry_run) return bulkDone({ count: 2, able: 2 });
        if (asked.before === undefined) {
          isThere = false;
          return bulkDone({ count: 1, changed: ["9"], next: "9" });
        }
        return isThere ? bulkDone({ count: 1, changed: ["8"] }) : new Error("refused");
      },
    });
    show(<BulkDialog action="resume" meant={{ filter: FAILED }} onClose={vi.fn()} />);
    fireEvent.click(await screen.findByRole("button", { name: "Resume 2 runs" }));
    await screen.findByText("Stopped before the end: 1 run resumed.");
    expect(screen.getByRole("alert").textContent).toContain("cannot be reached");
    isThere = true;
    fireEvent.click(screen.getByRole("button", { name: "Continue" }));
    await screen.findByText("Finished: 2 runs resumed.");
  });

  it("says why it could not count, and closes", async () => {
    const problem = { type: "x", title: "t", status: 400, detail: "no such label" };
    serve({ "POST /api/v1/runs/bulk": () => Response.json(problem, { status: 400 }) });
    const closed = vi.fn();
    show(<BulkDialog action="retry" meant={{ runs: ["1"] }} onClose={closed} />);
    expect((await screen.findByRole("alert")).textContent).toBe("no such label");
    fireEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(closed).toHaveBeenCalled();
  });
});
