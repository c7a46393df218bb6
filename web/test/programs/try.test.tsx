import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";

import { TryPolicy } from "../../src/pages/programs/TryPolicy";
import { endText, extraText, verdict, whatifReport } from "../../src/pages/programs/trying/report";
import { HOSTILE, serve, show } from "../runs/fixtures";
import { DOCUMENT, inspected, node, played, RUN, whatif } from "./fixtures";

const PREVIEW = {
  run: RUN,
  at: 8,
  asked: 8,
  reused: [],
  again: [],
  undone: [],
  effects: [],
  more_effects: 0,
  notes: ["only a note"],
  misfits: [],
  differs_at: null,
};
const POLICY = { document: DOCUMENT, file: "orders.yaml", dialect: null, files: {} };
const EDITED = DOCUMENT.replace("http", "noop");

function said(each: Parameters<typeof whatif>[0], more = {}): string {
  return verdict(whatifReport(whatif(each, more).report));
}

test("the verdict on one run says how sure it is", () => {
  expect(said([played()])).toBe("The run would have ended done instead of failed, for certain.");
  expect(said([played({ becomes: "failed", certain: false })])).toBe(
    "The run would have ended as it did (failed), if what is in doubt holds.",
  );
  const shares = { done: 0.25, failed: 0.75, unknown: 0 };
  expect(said([played({ becomes: null, certain: false, shares })])).toBe(
    "The run failed; by the model it would have ended done 25 %, failed 75 %.",
  );
  const unknown = { becomes: null, certain: false, shares: { done: 0, failed: 0, unknown: 1 } };
  expect(said([played({ ...unknown, unknown: ["fetch attempt 4"] })])).toBe(
    "How the run would have ended is unknown: fetch attempt 4.",
  );
});

test("the verdict on many runs counts what changes", () => {
  expect(said([played(), played({ run: "2" })], { certain: 1 })).toBe(
    "Of 2 runs: 1 failed run would have succeeded; 1 run cannot be decided for certain.",
  );
});

test("what a policy costs is shown with its interval", () => {
  expect(extraText({ mean: 0, low: 0, high: 0 })).toBe("as before");
  expect(extraText({ mean: -2, low: -2, high: -2 })).toBe("−2");
  expect(extraText({ mean: 1.25, low: 0, high: 3 })).toBe("+1.3 (95 %: +0 to +3)");
  const shares = { done: 0.001, failed: 0.999, unknown: 0 };
  const [one] = whatifReport(whatif([played({ becomes: null, shares })]).report).each;
  expect(one && endText(one)).toBe("done <1 %, failed 100 %");
});

test("the edited document is tried on the chosen runs, and told in words", async () => {
  const sent: unknown[] = [];
  serve({
    "POST /api/v1/inspect": () => inspected(),
    "POST /api/v1/whatif": (_, body) => {
      sent.push(body);
      return whatif([played({ differs: { place: HOSTILE, seq: 19, was: null, becomes: "x" } })]);
    },
  });
  const { container } = show(<TryPolicy {...POLICY} runs={[RUN, "22"]} />);
  const button = screen.getByRole("button", { name: "Try it" });
  await waitFor(() => expect(button).toHaveProperty("disabled", false));
  fireEvent.change(screen.getByLabelText(/to be changed/), { target: { value: EDITED } });
  // Nobody knows yet whether this text has errors.
  expect(button).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByLabelText("22"));
  await waitFor(() => expect(button).toHaveProperty("disabled", false));
  fireEvent.click(button);
  await screen.findByText("The run would have ended done instead of failed, for certain.");
  expect(sent).toEqual([{ document: EDITED, file: "orders.yaml", runs: [RUN] }]);
  expect(screen.getByRole("table", { name: "Each run" }).textContent).toContain(HOSTILE);
  expect(container.querySelector("img")).toBeNull();
  fireEvent.change(screen.getByLabelText(/to be changed/), { target: { value: DOCUMENT } });
  screen.getByText("The text was changed since. Try it again.");
});

test("a document with errors is not tried", async () => {
  const wrong = {
    severity: "error" as const,
    rule: "yaml",
    message: "no such step",
    file: "orders.yaml",
    line: 3,
    column: 1,
    suggestion: null,
  };
  serve({ "POST /api/v1/inspect": () => inspected({ findings: [wrong], bounds: null }) });
  show(<TryPolicy {...POLICY} runs={[RUN]} />);
  await screen.findByText("no such step");
  expect(screen.getByRole("button", { name: "Try it" })).toHaveProperty("disabled", true);
});

test("a run is forked at the step that failed, under what was tried", async () => {
  const sent: unknown[] = [];
  serve({
    "POST /api/v1/inspect": () => inspected(),
    "POST /api/v1/whatif": () => whatif([played()]),
    [`GET /api/v1/runs/${RUN}/picture`]: () => ({
      run: RUN,
      failed_step: "store",
      graph: {
        nodes: [node("fetch", 4, { visits: 1 }), node("store", 10, { visits: 1 })],
        edges: [],
      },
    }),
    [`POST /api/v1/runs/${RUN}/fork`]: (_, body) => {
      sent.push(body);
      const isAsked = typeof body === "object" && body !== null && "dry_run" in body;
      return isAsked ? { preview: PREVIEW } : { run: "77", status: "queued" };
    },
  });
  show(<TryPolicy {...POLICY} runs={[RUN]} />);
  const button = screen.getByRole("button", { name: "Try it" });
  await waitFor(() => expect(button).toHaveProperty("disabled", false));
  fireEvent.click(button);
  fireEvent.click(await screen.findByRole("button", { name: /^Fork run/ }));
  const dialog = await screen.findByRole("dialog");
  await within(dialog).findByText("only a note");
  fireEvent.click(within(dialog).getByRole("button", { name: "Start the new run" }));
  await waitFor(() => expect(location.pathname).toBe("/runs/77"));
  expect(sent.at(-1)).toEqual({ step: "store", document: DOCUMENT, file: "orders.yaml" });
});
