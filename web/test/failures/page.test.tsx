import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import type { BulkRequest, FailureGroup, FailureGroups } from "../../src/api/types";
import FailuresPage from "../../src/pages/failures/FailuresPage";
import { bulkDone, facets, failed, HOSTILE, serve, show, type Server } from "../runs/fixtures";

function group(more: Partial<FailureGroup>): FailureGroup {
  return {
    fingerprint: "42018f0d84eb",
    kind: "exit_code",
    message: "no such account",
    step: "charge",
    programs: ["checkout"],
    count: 1,
    dead: 0,
    retried: 0,
    first_at: "2026-03-01T11:00:00Z",
    last_at: "2026-03-01T11:58:00Z",
    newest: failed.run,
    ...more,
  };
}

const GROUPS = [
  group({}),
  group({
    fingerprint: "609617850c63",
    kind: "worker_lost",
    message: HOSTILE,
    programs: ["a", "b", "c", "d", "e"],
    count: 1_200,
    dead: 7,
  }),
];

function served(groups = GROUPS): Server {
  return serve({
    "GET /api/v1/failures": (): FailureGroups => ({ groups, is_cut: false }),
    "GET /api/v1/runs": () => ({ runs: [failed], next: null }),
    "GET /api/v1/runs/facets": () => facets({ failed: 12, dead: 2 }),
    "POST /api/v1/runs/bulk": () => bulkDone({ count: 14, able: 14 }),
  });
}

beforeEach(() => history.replaceState(null, "", "/failures"));

describe("the Failures page", () => {
  it("has a line for each problem, and hostile messages are text", async () => {
    served();
    show(<FailuresPage />);
    await screen.findByText("2 problems in 1,201 failed runs");
    const second = screen.getByRole("button", { name: /worker_lost/ });
    expect(second.textContent).toContain("1,200 runs");
    expect(second.textContent).toContain("7 given up");
    expect(second.textContent).toContain("a, b, c and 2 more");
    expect(second.textContent).toContain(HOSTILE);
    expect(document.querySelector("img")).toBeNull();
  });

  it("puts the order into the address", async () => {
    served();
    show(<FailuresPage />);
    await screen.findByText(/2 problems/);
    fireEvent.change(screen.getByLabelText("Order"), { target: { value: "most" } });
    expect(location.search).toBe("?order=most");
    const kinds = [...document.querySelectorAll(".failure-kind code")].map(
      (one) => one.textContent,
    );
    expect(kinds).toEqual(["worker_lost", "exit_code"]);
  });

  it("asks for a time and a program", async () => {
    history.replaceState(null, "", "/failures?since=24h&program=checkout");
    const server = served();
    show(<FailuresPage />);
    await screen.findByText(/2 problems/);
    expect(server.asked).toContain("GET /api/v1/failures?since=24h&program=checkout&limit=100");
  });

  it("opens a problem in the address, with its runs and where else to look", async () => {
    const server = served();
    show(<FailuresPage />);
    fireEvent.click(await screen.findByRole("button", { name: /exit_code/ }));
    expect(location.search).toBe("?group=42018f0d84eb");
    await screen.findByLabelText(`Retry run ${failed.run}`);
    expect(server.asked.some((one) => /runs\?.*fingerprint=42018f0d84eb/.test(one))).toBe(true);
    expect(screen.getByText("Open the newest").getAttribute("href")).toBe(`/runs/${failed.run}`);
    expect(screen.getByText("Show in Runs").getAttribute("href")).toBe(
      "/?state=failed&state=dead&fingerprint=42018f0d84eb&retried=false",
    );
  });

  it("says how many runs of a problem failed before the time that is asked for", async () => {
    history.replaceState(null, "", "/failures?group=42018f0d84eb&since=1h");
    served();
    show(<FailuresPage />);
    await screen.findByText("13 of these runs failed before the time chosen above.");
  });

  it("retries one, some, or all of a problem", async () => {
    history.replaceState(null, "", "/failures?group=42018f0d84eb");
    const server = served();
    show(<FailuresPage />);
    fireEvent.click(await screen.findByLabelText(`Retry run ${failed.run}`));
    const named = { action: "retry", runs: [failed.run], dry_run: true };
    await waitFor(() => expect(server.bulk).toEqual([named]));
    fireEvent.click(await screen.findByRole("button", { name: "Do nothing" }));

    fireEvent.click(screen.getByLabelText(`Select run ${failed.run}`));
    fireEvent.click(screen.getByRole("button", { name: "Retry …" }));
    await waitFor(() => expect(server.bulk).toHaveLength(2));
    expect(server.bulk[1]).toEqual(named);
    fireEvent.click(await screen.findByRole("button", { name: "Do nothing" }));

    fireEvent.click(await screen.findByRole("button", { name: "Retry all 14 …" }));
    await waitFor(() => expect(server.bulk).toHaveLength(3));
    expect(server.bulk[2]?.filter).toEqual({
      state: ["failed", "dead"],
      fingerprint: "42018f0d84eb",
      retried: "false",
    });
  });

  it("tells how many were retried, and shows them if that is wanted", async () => {
    history.replaceState(null, "", "/failures?group=42018f0d84eb");
    const groups = [group({ count: 3, retried: 1_500 })];
    const again = { ...failed, retried_as: "77" };
    const server = serve({
      "GET /api/v1/failures": (): FailureGroups => ({ groups, is_cut: false }),
      "GET /api/v1/runs": () => ({ runs: [again], next: null }),
      "GET /api/v1/runs/facets": () => facets({ failed: 3 }),
    });
    show(<FailuresPage />);
    const head = await screen.findByRole("button", { name: /exit_code/ });
    expect(head.textContent).toContain("3 runs1,500 retried");
    expect(server.asked.some((one) => /runs\?.*retried=false/.test(one))).toBe(true);
    fireEvent.change(screen.getByLabelText("Retried runs"), { target: { value: "true" } });
    await waitFor(() =>
      expect(server.asked).toContain("GET /api/v1/failures?retried=true&limit=100"),
    );
    const link = await screen.findByRole("link", { name: "retried" });
    expect(link.getAttribute("href")).toBe("/runs/77");
    expect(screen.queryByLabelText(`Retry run ${failed.run}`)).toBeNull();
  });

  it("keeps the open problem when its last run is retried, until it is closed", async () => {
    history.replaceState(null, "", "/failures?group=42018f0d84eb");
    let groups = [group({ count: 2 })];
    const server = serve({
      "GET /api/v1/failures": (): FailureGroups => ({ groups, is_cut: false }),
      "GET /api/v1/runs": () => ({ runs: [failed], next: null }),
      "GET /api/v1/runs/facets": () => facets({ failed: 2 }),
      "POST /api/v1/runs/bulk": (_, body) => {
        if (!(body as BulkRequest).dry_run) groups = [];
        return bulkDone({ count: 2, able: 2, changed: ["7", "8"] });
      },
    });
    show(<FailuresPage />);
    fireEvent.click(await screen.findByRole("button", { name: "Retry all 2 …" }));
    fireEvent.click(await screen.findByRole("button", { name: "Retry 2 runs" }));
    await screen.findByText("Finished: 2 runs retried.");
    server.tell({ runs: ["7"], is_all: false });
    const head = screen.getByRole("button", { name: /exit_code/, hidden: true });
    await waitFor(() => expect(head.textContent).toContain("0 runs2 retried"));
    expect(screen.getByText("Finished: 2 runs retried.")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Close" }));
    fireEvent.click(head);
    await screen.findByText(/No failed run is left/);
  });

  it("says so where nothing has failed", async () => {
    served([]);
    show(<FailuresPage />);
    await screen.findByText(/No failed run is left/);
  });
});
