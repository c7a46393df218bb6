import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";

import type { FlowGraphProps } from "../../src/graph/FlowGraph";
import { notesOf, uncoveredFirst } from "../../src/pages/programs/coverage/CoverageTab";
import ProgramPage from "../../src/pages/programs/ProgramPage";
import ProgramsPage from "../../src/pages/programs/ProgramsPage";
import { facets, HOSTILE, run, serve, show } from "../runs/fixtures";
import { DOCUMENT, inspected, program, RUN } from "./fixtures";

// Its picture is tested where it is made; here it is a list to choose from.
vi.mock("../../src/graph/FlowGraph", () => ({
  FlowGraph: ({ graph, selected, onSelect }: FlowGraphProps) =>
    graph.nodes.map(({ name }) => (
      <button key={name} aria-pressed={name === selected} onClick={() => onSelect(name)}>
        {name}
      </button>
    )),
}));

const POINT = { kind: "rule", column: 1, what: "rule 1 of page", lack: "never matched" };

function answers(more = {}) {
  return {
    "GET /api/v1/programs": () => ({ programs: [program(), program({ name: HOSTILE })] }),
    "GET /api/v1/programs/orders": (asked: URL) =>
      asked.searchParams.get("version") === "1"
        ? program({ version: 1, document: DOCUMENT.replace("http", "shell"), digest: "old" })
        : program(),
    "GET /api/v1/programs/orders/versions": () => ({
      versions: [program(), program({ version: 1, digest: "old" })],
      next: null,
    }),
    "GET /api/v1/runs/facets": () => facets({ failed: 8, retrying: 1 }),
    "GET /api/v1/runs": () => ({ runs: [], next: null }),
    "POST /api/v1/inspect": () => inspected(),
    ...more,
  };
}

function at(address: string): void {
  history.replaceState(null, "", address);
}

beforeEach(() => at("/programs"));

function pointed(container: HTMLElement): string[] {
  return [...container.querySelectorAll(".pointed .source-number")].map((one) => one.textContent);
}

test("programs are listed with how their runs stand, and hostile names are text", async () => {
  serve(answers());
  const { container } = show(<ProgramsPage />);
  await screen.findByText(HOSTILE);
  const failed = (await screen.findAllByRole("link", { name: "8 failed" }))[0];
  expect(failed?.getAttribute("href")).toBe("/?state=failed&program=orders");
  expect(container.querySelector("main img, .grid-table img")).toBeNull();
  fireEvent.keyDown(document.body, { key: "/" });
  expect(document.activeElement).toBe(screen.getByLabelText("Find a program"));
  fireEvent.change(screen.getByLabelText("Find a program"), { target: { value: "ORD" } });
  expect(location.search).toBe("?text=ORD");
  expect(screen.queryByText(HOSTILE)).toBeNull();
});

test("a document with errors cannot be registered; one without says which runs could move", async () => {
  at("/programs?register=yes");
  let hasErrors = true;
  const finding = {
    severity: "error",
    rule: "x",
    message: HOSTILE,
    file: "document",
    line: 1,
    column: 1,
    suggestion: null,
  };
  serve(
    answers({
      "POST /api/v1/inspect": () =>
        hasErrors ? inspected({ name: null, findings: [finding as never] }) : inspected(),
      "POST /api/v1/programs": () => ({
        name: "orders",
        version: 3,
        digest: "d",
        findings: [],
        runs: {
          movable: [RUN],
          stuck: [{ run: "9", reasons: [{ message: "step b is gone", line: null }] }],
          has_more: false,
        },
      }),
    }),
  );
  show(<ProgramsPage />);
  const text = await screen.findByLabelText("Document");
  fireEvent.change(text, { target: { value: "metadata: {}" } });
  await screen.findByText(HOSTILE, { selector: ".editor-findings span" });
  expect(screen.getByRole("button", { name: "Register" })).toHaveProperty("disabled", true);
  hasErrors = false;
  fireEvent.change(text, { target: { value: DOCUMENT } });
  const button = await screen.findByRole("button", { name: "Register orders" });
  await waitFor(() => expect(button).toHaveProperty("disabled", false));
  fireEvent.click(button);
  await screen.findByText(/orders is registered as version 3/);
  screen.getByText("1 open run could move to version 3, 1 cannot");
  screen.getByText(/step b is gone/);
  screen.getByRole("button", { name: "Move to version 3 …" });
});

test("a step points at its lines, and a line at its step; both are in the address", async () => {
  at("/programs/orders");
  serve(answers());
  const { container } = show(<ProgramPage name="orders" />);
  fireEvent.click(await screen.findByRole("button", { name: "store" }));
  expect(pointed(container)).toEqual(["10", "11", "12"]);
  expect(location.search).toBe("?step=store");
  fireEvent.click(screen.getByRole("button", { name: "line 6" }));
  expect(screen.getByRole("button", { name: "fetch" }).getAttribute("aria-pressed")).toBe("true");
  expect(pointed(container)).toEqual(["6"]);
  fireEvent.keyDown(screen.getByRole("region", { name: "orders.yaml" }), { key: "j" });
  expect(pointed(container)).toEqual(["7"]);
  screen.getByText(/retries multiply/);
});

test("two versions are compared line by line", async () => {
  at("/programs/orders?tab=versions");
  serve(answers());
  show(<ProgramPage name="orders" />);
  const diff = await screen.findByRole("region", { name: /^From version 1 to version 2: / });
  expect(diff.textContent).toContain("taken out:       - page: {kind: shell}");
  expect(diff.textContent).toContain("put in:       - page: {kind: http}");
  fireEvent.click(screen.getByLabelText("compare from version 2"));
  expect(location.search).toContain("from=2");
  await screen.findByText("The two documents are the same.");
});

test("open runs of an older version are asked whether they could move", async () => {
  at("/programs/orders?tab=versions");
  const open = run(1, { state: "retrying", status: "running", digest: "old" });
  const ended = run(3, { state: "running", status: "running", digest: "old" });
  const refused = { type: "x", title: "x", status: 400, detail: "the run had ended" };
  const server = serve(
    answers({
      "GET /api/v1/runs": () => ({
        runs: [open, ended, run(2, { digest: program().digest })],
        next: null,
      }),
      [`POST /api/v1/runs/${open.run}/fork`]: (_: URL, body: object) => {
        expect(body).toEqual({ program: "orders", version: 2, dry_run: true });
        return { preview: { misfits: [{ message: "step x is gone", line: 7 }] } };
      },
      [`POST /api/v1/runs/${ended.run}/fork`]: () => Response.json(refused, { status: 400 }),
    }),
  );
  show(<ProgramPage name="orders" />);
  fireEvent.click(await screen.findByRole("button", { name: "Which could move?" }));
  await screen.findByText(/cannot move: line 7: step x is gone/);
  screen.getByText(/cannot move: the run had ended/);
  expect(server.asked.filter((one) => one.endsWith("/fork"))).toHaveLength(2);
});

test("the worst case leads to the lines that leave it open, and no further", async () => {
  at("/programs/orders?tab=bounds");
  serve(answers());
  const { container } = show(<ProgramPage name="orders" />);
  const [line] = await screen.findAllByRole("link", { name: "line 6" });
  expect(line?.getAttribute("href")).toBe("/programs/orders?line=6");
  screen.getByText("prices.yaml, line 10");
  screen.getByText("∞", { selector: "dd" });
  screen.getByText("1 h 45 m", { selector: "dd" });
  screen.getByText("<b>shop</b>");
  expect(container.querySelector("b")).toBeNull();
});

test("what never happened comes first, and marks its line", () => {
  const points = [
    { ...POINT, line: 3, hits: 9 },
    { ...POINT, line: 8, hits: 0 },
    { ...POINT, line: 3, hits: 0 },
  ];
  expect(uncoveredFirst(points).map(({ line, hits }) => [line, hits])).toEqual([
    [3, 0],
    [8, 0],
    [3, 9],
  ]);
  expect(Object.keys(notesOf(points))).toEqual(["3", "8"]);
  show(<>{notesOf(points)[3]}</>);
  screen.getByText("never");
});

test("a program that was only run can still be tried on its run", async () => {
  at(`/programs/loose?try=${RUN}`);
  const missing = {
    type: "x",
    title: "x",
    status: 404,
    detail: "no program 'loose' is registered",
  };
  serve(
    answers({
      "GET /api/v1/programs/loose": () => Response.json(missing, { status: 404 }),
      [`GET /api/v1/runs/${RUN}/document`]: () => ({ ...program(), newest: null, version: null }),
    }),
  );
  show(<ProgramPage name="loose" />);
  await screen.findByText(/no program 'loose' is registered/);
  expect(await screen.findByLabelText(/to be changed/)).toHaveProperty("value", DOCUMENT);
});

test("where no run has failed, those that are done are tried", async () => {
  at("/programs/orders?tab=try");
  serve(
    answers({
      "GET /api/v1/runs": (asked: URL) => ({
        runs: asked.searchParams.get("state") === "done" ? [run(1), run(2)] : [],
        next: null,
      }),
    }),
  );
  show(<ProgramPage name="orders" />);
  await screen.findByText(/These are the newest that are done\./);
  expect(screen.getByLabelText(run(2).run)).toHaveProperty("checked", true);
});
