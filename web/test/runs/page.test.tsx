import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import type { RunPage, RunPoints } from "../../src/api/types";
import { countText } from "../../src/pages/runs/Facets";
import RunsPage from "../../src/pages/runs/RunsPage";
import {
  asking,
  facets,
  failed,
  HOSTILE,
  retrying,
  run,
  serve,
  show,
  type Server,
} from "./fixtures";

const POINTS: RunPoints = { points: [[failed.run, failed.created_at, 2, "failed"]], is_cut: false };

function served(rows = [asking, failed, retrying]): Server {
  return serve({
    "GET /api/v1/runs": (): RunPage => ({ runs: rows, next: null }),
    "GET /api/v1/runs/facets": () => facets({ retrying: 1, person: 1, failed: 1 }),
    "GET /api/v1/runs/points": () => POINTS,
  });
}

function lists(server: Server): string[] {
  return server.asked.filter((one) => one.startsWith("GET /api/v1/runs?"));
}

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, "", "/");
});

it.each([
  [undefined, "–"],
  [0, "0"],
  [99_999, "99,999"],
  [128_430, "128K"],
])("the count %o is shown in little room as %s", (count, text) =>
  expect(countText(count)).toBe(text),
);

describe("the Runs page", () => {
  it("shows every state with its count, and each run with what it waits for", async () => {
    served();
    show(<RunsPage />);
    await screen.findByRole("button", { name: "1 retrying" });
    const states = within(screen.getByRole("group", { name: "States" })).getAllByRole("button");
    expect(states.map((button) => button.textContent).join(" ")).toBe(
      "3 all 0 running 1 retrying 1 person, waiting for a person 0 signal, waiting for a signal " +
        "0 timer, waiting for a timer or child 0 waiting 0 queued 0 paused 1 failed 0 given up 0 done 0 cancelled",
    );
    await screen.findByText(/attempt 4/);
    expect(screen.getByText("exit_code").parentElement?.textContent).toContain("no such account");
  });

  it("shows hostile names, labels and questions as text", async () => {
    served();
    show(<RunsPage />);
    await screen.findByText(`Release ${HOSTILE}?`);
    expect(screen.getByText(HOSTILE)).toBeTruthy();
    expect(screen.getByText(`team=${HOSTILE}`)).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
  });

  it("explains the words of states", async () => {
    served();
    show(<RunsPage />);
    const dead = await screen.findByRole("button", { name: /given up/ });
    expect(dead.title).toContain("workers were lost");
    expect((await screen.findByText("failed", { selector: ".state" })).title).toContain("error");
    fireEvent.click(screen.getByRole("button", { name: "What the states mean" }));
    expect(screen.getByText(/It sleeps, or waits for a child run/)).toBeTruthy();
  });

  it("says that a state of the address is none, and takes it out", async () => {
    history.replaceState(null, "", "/?state=failed&state=zzz");
    served();
    show(<RunsPage />);
    await screen.findByText(/There is no state zzz/);
    fireEvent.click(screen.getByRole("button", { name: /Take it out/ }));
    expect(location.search).toBe("?state=failed");
    expect(screen.queryByText(/There is no state/)).toBeNull();
  });

  it("is narrowed by a fingerprint that somebody types, and knows the kinds of error", async () => {
    const server = served();
    show(<RunsPage />);
    const field = await screen.findByLabelText("Fingerprint");
    fireEvent.change(field, { target: { value: "42018f0d84eb" } });
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() => expect(lists(server).at(-1)).toContain("fingerprint=42018f0d84eb"));
    const kinds = screen.getByLabelText<HTMLInputElement>("Error kind").list;
    expect(kinds?.querySelector('option[value="rate_limit"]')).toBeTruthy();
  });

  it("puts the chosen states into the address and asks for those", async () => {
    const server = served();
    show(<RunsPage />);
    fireEvent.click(await screen.findByRole("button", { name: "1 failed" }));
    fireEvent.click(screen.getByRole("button", { name: "1 retrying" }));
    expect(location.search).toBe("?state=failed&state=retrying");
    await waitFor(() => expect(lists(server).at(-1)).toContain("state=retrying&state=failed"));
    const asked = server.asked.filter((one) => one.includes("/facets"));
    expect(asked.every((one) => !one.includes("state="))).toBe(true);
    fireEvent.click(screen.getByRole("button", { name: "1 failed" }));
    expect(location.search).toBe("?state=retrying");
  });

  it("shows what a link asks for, and clears it", async () => {
    history.replaceState(null, "", "/?label=team%3Dcore&fingerprint=42018f0d84eb&attempt=4");
    const server = served();
    show(<RunsPage />);
    await screen.findByText("team=core");
    expect(screen.getByText("failure 42018f0d84eb")).toBeTruthy();
    expect(lists(server)[0]).toContain("attempt=4&");
    fireEvent.click(screen.getByLabelText("Remove team=core"));
    expect(location.search).toBe("?fingerprint=42018f0d84eb&attempt=4");
    fireEvent.click(screen.getByRole("button", { name: "Clear" }));
    expect(location.search).toBe("");
  });

  it("searches when / is pressed and a text typed", async () => {
    const server = served();
    show(<RunsPage />);
    await screen.findByText(/attempt 4/);
    fireEvent.keyDown(document.body, { key: "/" });
    const search = screen.getByRole("searchbox");
    expect(document.activeElement).toBe(search);
    fireEvent.change(search, { target: { value: "ledger" } });
    fireEvent.keyDown(search, { key: "Enter" });
    expect(location.search).toBe("?text=ledger");
    await waitFor(() => expect(lists(server).at(-1)).toContain("text=ledger"));
  });

  it("asks again when runs change, and says that it is live", async () => {
    const server = served();
    show(<RunsPage />);
    await screen.findByText("live");
    await screen.findByText(/attempt 4/);
    const before = lists(server).length;
    act(() => server.tell({ runs: [failed.run], is_all: false }));
    await waitFor(() => expect(lists(server).length).toBeGreaterThan(before));
  });

  it("does not move what people read further down, and shows the news when they ask", async () => {
    const server = served(Array.from({ length: 100 }, (_, at) => run(200 - at)));
    show(<RunsPage />);
    await screen.findByText(run(200).run);
    const table = screen.getByRole("table");
    table.scrollTop = 38 * 40;
    fireEvent.scroll(table);
    await screen.findByText(run(160).run);
    const before = lists(server).length;
    act(() => server.tell({ runs: ["1", "2", "2"], is_all: false }));
    await screen.findByText(/2 runs are newer or changed/);
    expect(lists(server)).toHaveLength(before);
    fireEvent.click(screen.getByRole("button", { name: "Show" }));
    await waitFor(() => expect(lists(server).length).toBeGreaterThan(before));
    await screen.findByText(run(200).run);
    expect(screen.queryByText(/newer or changed/)).toBeNull();
  });

  it("says that it lost the server, and asks for everything again when it is back", async () => {
    const server = served();
    show(<RunsPage />);
    await screen.findByText("live");
    await screen.findByText(/attempt 4/);
    const before = lists(server).length;
    act(() => server.breakOff());
    await screen.findByText("reconnecting …");
    expect(screen.getByText(/attempt 4/)).toBeTruthy();
    await screen.findByText("live");
    await waitFor(() => expect(lists(server).length).toBeGreaterThan(before));
  });

  it("says what to do where there is nothing", async () => {
    history.replaceState(null, "", "/?text=nothing");
    served([]);
    show(<RunsPage />);
    await screen.findByText(/No run matches/);
  });

  it("says what the server refused", async () => {
    const problem = { type: "x", title: "t", status: 400, detail: "'soon' is not a time" };
    const refused = () => Response.json(problem, { status: 400 });
    serve({
      "GET /api/v1/runs": refused,
      "GET /api/v1/runs/facets": refused,
      "GET /api/v1/runs/points": refused,
    });
    show(<RunsPage />);
    expect((await screen.findAllByText("'soon' is not a time")).length).toBeGreaterThan(0);
  });

  it("acts on ticked runs, and on all that match", async () => {
    const many = Array.from({ length: 5 }, (_, at) => run(at));
    const server = served(many);
    show(<RunsPage />);
    fireEvent.click(await screen.findByLabelText(`Select run ${run(1).run}`));
    expect(screen.getByText("1 run selected")).toBeTruthy();
    fireEvent.click(screen.getByText("Select all 3 that match"));
    expect(screen.getByText("All 3 runs that match")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Pause …" }));
    await waitFor(() =>
      expect(server.bulk).toEqual([{ action: "pause", filter: {}, dry_run: true }]),
    );
  });
});
