import { fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import type { PoolRow, WorkerRow, WorkersShown } from "../../src/api/types";
import WorkersPage from "../../src/pages/workers/WorkersPage";
import { poolLook } from "../../src/pages/workers/standing";
import { HOSTILE, NOW, serve, show } from "../runs/fixtures";

function worker(more: Partial<WorkerRow> = {}): WorkerRow {
  return {
    worker: "d051905bd0c00dd6",
    host: "north",
    process: 26_068,
    kind: "server",
    pools: ["default"],
    slots: 32,
    busy: 1,
    leases: 1,
    version: "0.1.0",
    started_at: "2026-03-01T11:00:00.000000Z",
    seen_at: "2026-03-01T11:59:54.000000Z",
    is_alive: true,
    ...more,
  };
}

function pool(more: Partial<PoolRow> = {}): PoolRow {
  return {
    pool: "default",
    workers: 1,
    slots: 32,
    busy: 1,
    ready: 0,
    oldest_ready_at: null,
    waiting: 5,
    next_due_at: "2026-03-01T12:10:00.000000Z",
    leased: 1,
    expired: 0,
    ...more,
  };
}

const NOBODY = { workers: 0, slots: 0, busy: 0, waiting: 0, next_due_at: null, leased: 0 };
const DESERTED = pool({
  ...NOBODY,
  pool: HOSTILE,
  ready: 3,
  oldest_ready_at: "2026-03-01T11:58:00.000000Z",
});

function served(more: Partial<WorkersShown> = {}): void {
  const shown = { now: NOW, workers: [worker()], pools: [pool()], ...more };
  serve({ "GET /api/v1/workers": () => shown });
}

function row(text: string): HTMLElement {
  const found = screen.getAllByRole("row").find((one) => one.textContent?.includes(text));
  if (found === undefined) throw new Error(`no row with ${text}`);
  return found;
}

beforeEach(() => history.replaceState(null, "", "/workers"));

describe("the Workers page", () => {
  it("shows what each pool has and what waits in it", async () => {
    served();
    show(<WorkersPage />);
    await screen.findByText("1 worker, 1 of 32 slots in use, 0 jobs ready");
    const cells = within(row("next in")).getAllByRole("cell");
    expect(cells.map((cell) => cell.textContent)).toEqual([
      "busy",
      "1",
      "1 of 32",
      "0",
      expect.stringMatching(/^5next in \d+:\d\d$/),
      "1",
      "0",
    ]);
  });

  it("warns of work that nobody is there for, with the command that helps", async () => {
    served({ pools: [pool(), DESERTED] });
    show(<WorkersPage />);
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain(`Nobody works on pool ${HOSTILE}. 3 jobs wait`);
    expect(within(alert).getByLabelText("command line").textContent).toBe(
      `anew worker --pool '${HOSTILE}' --server ${location.origin}`,
    );
    expect(document.querySelector("img")).toBeNull();
    const rows = within(screen.getByRole("table", { name: "Pools" })).getAllByRole("row");
    expect(rows[1]?.textContent).toContain("nobody works");
  });

  it("has the dead after the living, with a word of their own", async () => {
    const gone = worker({ worker: "b", host: "arctic", is_alive: false, busy: 0, pools: [] });
    served({ workers: [gone, worker()] });
    show(<WorkersPage />);
    await screen.findByText("arctic");
    const table = screen.getByRole("table", { name: "Workers" });
    const states = within(table)
      .getAllByRole("row")
      .slice(1)
      .map((one) => one.textContent);
    expect(states[0]).toMatch(/^busy.*north/);
    expect(states[1]).toMatch(/^gone.*arctic.*all pools/);
    screen.getByText(/^1 worker,/);
  });

  it("shows the workers of one pool, and which is in the address", async () => {
    const other = worker({ worker: "b", host: "south", pools: ["gpu"], version: "0.2.0" });
    const all = worker({ worker: "c", host: "east", pools: [] });
    served({ workers: [worker(), other, all], pools: [pool(), pool({ pool: "gpu" })] });
    show(<WorkersPage />);
    await screen.findByText(/2 versions of Anew/);
    fireEvent.click(screen.getByRole("button", { name: "gpu" }));
    expect(location.search).toBe("?pool=gpu");
    expect(screen.queryByText("north")).toBeNull();
    screen.getByText("south");
    screen.getByText("east");
    fireEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(location.search).toBe("");
    screen.getByText("north");
  });

  it("says so where nobody works", async () => {
    served({ workers: [], pools: [] });
    show(<WorkersPage />);
    await screen.findByText(/Nobody works\./);
    screen.getByText(/No job is open/);
  });

  it("says what is wrong when the server cannot tell", async () => {
    serve({ "GET /api/v1/workers": () => new TypeError("away") });
    show(<WorkersPage />);
    await screen.findByText(/The server cannot be reached/);
  });
});

describe("how a pool is", () => {
  it.each([
    ["nobody works", { ...NOBODY, ready: 1 }],
    ["nobody works", { ...NOBODY, leased: 1, expired: 1 }],
    ["nobody there", { ...NOBODY, waiting: 1 }],
    ["idle", { ...NOBODY, workers: 1, slots: 4 }],
    ["leases ran out", { expired: 1 }],
    ["full", { busy: 32, ready: 1 }],
    ["busy", { busy: 32 }],
    ["busy", { ready: 1 }],
    ["idle", NOBODY],
  ])("%s", (word, more) => {
    expect(poolLook(pool(more)).word).toBe(word);
  });
});
