import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";

import type { WorkloadField } from "../../src/api/types";
import { cliText } from "../../src/parts/Commands";
import { startCommand } from "../../src/pages/programs/start/command";
import { labelsOf, readField, workloadOf } from "../../src/pages/programs/start/fields";
import { filledLike } from "../../src/pages/programs/start/like";
import { StartTab } from "../../src/pages/programs/start/StartTab";
import { HOSTILE, serve, show } from "../runs/fixtures";
import { inspected, program, RUN } from "./fixtures";

const FIELDS: WorkloadField[] = [
  { name: "base_url", type: "string", default: "http://127.0.0.1" },
  { name: "count", type: "number", default: 3 },
  { name: "is_dry", type: "boolean", default: false },
  { name: "rows", type: "array", default: [1] },
  { name: "graph.goal", type: "null", default: null },
];

beforeEach(() => history.replaceState(null, "", "/programs/orders?tab=start"));

test("only what was changed is sent", () => {
  const typed = new Map<string, string | boolean>([
    ["base_url", "http://127.0.0.1"],
    ["count", "4"],
    ["is_dry", true],
  ]);
  const { values, wrong } = workloadOf(FIELDS, typed);
  expect(values).toEqual({ count: 4, is_dry: true });
  expect(wrong.size).toBe(0);
});

test.each([
  ["count", "many", "This is not a number."],
  ["count", "", "This is not a number."],
  ["rows", "[1,", "This is not valid JSON yet."],
  ["rows", "{}", "This is JSON, but no list."],
])("%s says what is wrong with %j", (name, text, wrong) => {
  expect(workloadOf(FIELDS, new Map([[name, text]])).wrong).toEqual(new Map([[name, wrong]]));
});

test("a value the document does not give is JSON where it is JSON, else text", () => {
  const field: WorkloadField = { name: "goal", type: "null", default: null };
  expect(readField(field, "[1]")).toEqual({ value: [1] });
  expect(readField(field, "ship it")).toEqual({ value: "ship it" });
});

test("labels are one in a line", () => {
  expect(labelsOf("team=finance\n\nnote=a=b\n")).toEqual({ team: "finance", note: "a=b" });
  expect(labelsOf("team")).toBeNull();
});

test("the command line reads the same values back", () => {
  const command = startCommand({
    program: "orders",
    version: 2,
    workload: { count: 4, text: "5", note: "it's", "graph.goal": "ship" },
    key: "k1",
    labels: { team: "a b" },
  });
  expect(cliText(command, "http://x")).toBe(
    `anew start orders --version 2 --set count=4 --set 'text="5"' --set 'note=it'\\''s'` +
      ` --payload '{"graph.goal":"ship"}' --key k1 --label 'team=a b' --server http://x`,
  );
});

test("a run is started with what the form says, and its page is opened", async () => {
  const sent: unknown[] = [];
  serve({
    "POST /api/v1/inspect": () => inspected({ workload: [...FIELDS] }),
    "POST /api/v1/runs": (_, body) => {
      sent.push(body);
      return { run: RUN, status: "queued" };
    },
  });
  show(<StartTab program={program()} isNewest />);
  fireEvent.change(await screen.findByLabelText("count"), { target: { value: "5" } });
  fireEvent.click(screen.getByLabelText("is_dry"));
  fireEvent.change(screen.getByLabelText(/^Labels/), { target: { value: "team=finance" } });
  fireEvent.click(screen.getByRole("button", { name: "Start the run" }));
  await waitFor(() => expect(location.pathname).toBe(`/runs/${RUN}`));
  expect(sent).toEqual([
    { program: "orders", workload: { count: 5, is_dry: true }, labels: { team: "finance" } },
  ]);
});

test("a value that is wrong keeps the run from being started, and says why", async () => {
  const server = serve({ "POST /api/v1/inspect": () => inspected({ workload: [...FIELDS] }) });
  show(<StartTab program={program()} isNewest />);
  fireEvent.change(await screen.findByLabelText("rows"), { target: { value: "[1" } });
  const start = screen.getByRole("button", { name: "Start the run" });
  expect(start).toHaveProperty("disabled", true);
  expect(screen.getByLabelText("rows").getAttribute("aria-invalid")).toBe("true");
  screen.getByText("This is not valid JSON yet.");
  fireEvent.submit(screen.getByRole("form"));
  expect(server.asked).not.toContain("POST /api/v1/runs");
});

test("a field may have the name of something every object has", async () => {
  const field: WorkloadField = { name: "constructor", type: "string", default: "me" };
  serve({ "POST /api/v1/inspect": () => inspected({ workload: [field] }) });
  show(<StartTab program={program()} isNewest />);
  expect(await screen.findByLabelText("constructor")).toHaveProperty("value", "me");
  screen.getByText("text");
});

test("names and values of a document are text", async () => {
  serve({
    "POST /api/v1/inspect": () =>
      inspected({ workload: [{ name: HOSTILE, type: "string", default: HOSTILE }] }),
  });
  const { container } = show(<StartTab program={program()} isNewest />);
  expect(await screen.findByLabelText(HOSTILE)).toHaveProperty("value", HOSTILE);
  expect(container.querySelector("img")).toBeNull();
});

test("a form is filled in like a run there was", async () => {
  history.replaceState(null, "", `/programs/orders?tab=start&like=${RUN}`);
  const sent: unknown[] = [];
  const workload = { base_url: "http://api", count: 3, rows: [1, 2], is_dry: "maybe", more: 7 };
  serve({
    "POST /api/v1/inspect": () => inspected({ workload: [...FIELDS] }),
    [`GET /api/v1/runs/${RUN}/picture`]: () => ({ run: RUN, workload }),
    "POST /api/v1/runs": (_, body) => {
      sent.push(body);
      return { run: "12", status: "queued" };
    },
  });
  show(<StartTab program={program()} isNewest />);
  expect(await screen.findByLabelText("base_url")).toHaveProperty("value", "http://api");
  expect(screen.getByRole("link", { name: RUN }).getAttribute("href")).toBe(`/runs/${RUN}`);
  fireEvent.click(screen.getByRole("button", { name: "Start the run" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  const { count: _, ...changed } = workload;
  expect(sent[0]).toEqual({ program: "orders", workload: changed });
});

test("what a run does not tell whole is not filled in, and named", () => {
  const workload = { base_url: "http://u:[redacted]@api", rows: [{ "…": "2 MB" }], count: 4 };
  const filled = filledLike(FIELDS, workload);
  expect(filled.withheld).toEqual(["base_url", "rows"]);
  expect([...filled.typed]).toEqual([["count", "4"]]);
  expect(filled.more).toBe("");
});

test("a value that its field would read as another one is among the other values", () => {
  const filled = filledLike(FIELDS, { base_url: 5, "graph.goal": "5", count: null });
  expect(JSON.parse(filled.more)).toEqual({ base_url: 5, "graph.goal": "5", count: null });
});
