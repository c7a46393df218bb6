import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { AttemptPage, AttemptWhole } from "../../src/api/types";
import { Attempts } from "../../src/pages/run/attempts/Attempts";
import { useWords } from "../../src/router";
import { giveLayout } from "../fixtures/layout";
import { attempt, delay, HOSTILE, whole } from "./fixtures";

const asked: string[] = [];
let page: AttemptPage;
let wholes: AttemptWhole[];

beforeEach(() => {
  giveLayout();
  history.replaceState(null, "", "/runs/9?tab=attempts");
  asked.length = 0;
  const three = [1, 2, 3].map((number) => attempt(number));
  page = { attempts: three, next: null };
  wholes = three.map((one) => whole(one));
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const url = new URL(String(input), "http://here");
    asked.push(url.pathname + url.search);
    const seq = /attempts\/(\d+)$/.exec(url.pathname)?.[1];
    const found = seq === undefined ? page : wholes.find((one) => one.seq === Number(seq));
    return Response.json(found);
  });
});

/** As the page of the run embeds it: what is open comes from the address. */
function Embedded({ events }: { events: number }) {
  const [words] = useWords();
  const attempt = Number(words.get("attempt")) || null;
  return <Attempts run="9" step={words.get("step")} attempt={attempt} events={events} />;
}

function show(events = 14) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const tree = (count: number) => (
    <QueryClientProvider client={client}>
      <Embedded events={count} />
    </QueryClientProvider>
  );
  const { rerender } = render(tree(events));
  return (count: number) => rerender(tree(count));
}

async function rowOf(text: string): Promise<HTMLElement> {
  const found = (await screen.findByText(text)).closest<HTMLElement>("[role=row]");
  if (found === null) throw new Error(`no row has ${text}`);
  return found;
}

describe("the table of attempts", () => {
  it("tells the whole decision about each, with the line of its rule", async () => {
    page.attempts[2] = attempt(3, {
      delay: delay({ delay_seconds: 60, text: "the sum of the server" }),
    });
    show();
    const row = await rowOf("3 of 8");
    expect(row.textContent).toContain("rate_limit · HTTP 429");
    expect(row.textContent).toContain("60 s: the sum of the server, due ");
    const link = within(row).getByRole("link", { name: "rule 2, line 26" });
    expect(link.getAttribute("href")).toBe("/runs/9?tab=source&line=26");
  });

  it("tells who did not wait, also once it is open", async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const waits = attempt(3, { delay: delay({ not_before: later }) });
    page.attempts[2] = waits;
    wholes[2] = whole(waits);
    const grow = show(14);
    const row = await rowOf("3 of 8");
    expect(row.textContent).toContain("due ");
    fireEvent.click(row);
    const open = await screen.findByRole("region", { name: "Attempt" });
    const skipped = { at: later, by: HOSTILE, early_seconds: 3115 };
    page.attempts[2] = { ...waits, skipped };
    wholes[2] = whole({ ...waits, skipped });
    grow(15);
    const told = `skipped by ${HOSTILE}, 51 m 55 s early`;
    await waitFor(() => expect(open.textContent).toContain(told));
    expect((await rowOf("3 of 8")).textContent).toContain(told);
    expect((await rowOf("3 of 8")).textContent).not.toContain("due ");
  });

  it("asks for those of a task and an outcome, and keeps that in the address", async () => {
    show();
    await rowOf("1 of 8");
    fireEvent.change(screen.getByLabelText("Outcome"), { target: { value: "error" } });
    fireEvent.change(screen.getByLabelText("Task"), { target: { value: "page" } });
    await waitFor(() => expect(asked.at(-1)).toContain("task=page&status=error"));
    expect(location.search).toContain("outcome=error");
  });

  it("asks again when the log has grown", async () => {
    const grow = show(14);
    await rowOf("3 of 8");
    page.attempts.push(attempt(4, { status: "working", directive: null, delay: null }));
    grow(15);
    expect((await rowOf("4 of 8")).textContent).toContain("running");
    const count = asked.length;
    grow(15);
    await rowOf("4 of 8");
    expect(asked).toHaveLength(count);
  });

  it("misses nothing that happens while an answer is on its way", async () => {
    const answers: ((answer: Response) => void)[] = [];
    vi.mocked(fetch).mockImplementation(() => new Promise((give) => answers.push(give)));
    const grow = show(14);
    await waitFor(() => expect(answers).toHaveLength(1));
    answers[0]?.(Response.json(page));
    await rowOf("3 of 8");
    grow(15);
    await waitFor(() => expect(answers).toHaveLength(2));
    grow(16);
    answers[1]?.(Response.json({ attempts: [...page.attempts, attempt(4)], next: null }));
    // The answer was not given up for a newer one, which is asked for after it.
    await rowOf("4 of 8");
    await waitFor(() => expect(answers).toHaveLength(3));
  });

  it("asks for the next page at its end, and not again for one that cannot change", async () => {
    const later = [attempt(4, { status: "working" })];
    const first = page.attempts;
    vi.mocked(fetch).mockImplementation(async (input) => {
      asked.push(String(input));
      return Response.json(
        String(input).includes("after=11")
          ? { attempts: later, next: null }
          : { attempts: first, next: 11 },
      );
    });
    const grow = show(14);
    await rowOf("3 of 8");
    fireEvent.scroll(screen.getByRole("table"));
    await rowOf("4 of 8");
    const count = asked.length;
    grow(15);
    await waitFor(() => expect(asked.length).toBeGreaterThan(count));
    expect(asked.slice(count).every((path) => path.includes("after=11"))).toBe(true);
  });

  it("says what to do when there is none", async () => {
    page = { attempts: [], next: null };
    show();
    expect(await screen.findByText(/Choose another step/)).toBeTruthy();
  });

  it("finds the one that a picture names by visit and number", async () => {
    history.replaceState(null, "", "/runs/9?tab=attempts&step=fetch&visit=1&number=2");
    show();
    expect(await screen.findByRole("heading", { name: "fetch.page, attempt 2 of 8" })).toBeTruthy();
  });
});

describe("one attempt", () => {
  it("is shown with what went in, what came out and what was written", async () => {
    const [one] = wholes;
    if (one === undefined) throw new Error("no attempt");
    one.patches = { ctx: { note: HOSTILE } };
    one.logs = { stdout: "first line\nsecond line" };
    show();
    fireEvent.click(await rowOf("1 of 8"));
    const inputs = await screen.findByRole("region", { name: "Inputs" });
    expect(inputs.textContent).toContain("http://api/orders");
    expect(screen.getByRole("region", { name: "Outcome" }).textContent).toContain("rate_limit");
    expect(screen.getByRole("region", { name: "What the rule set" }).textContent).toContain(
      HOSTILE,
    );
    expect(document.querySelector("img")).toBeNull();
    expect(location.search).toContain("attempt=5");
    fireEvent.change(screen.getByLabelText("Search the logs"), { target: { value: "SECOND" } });
    const lines = screen.getByRole("region", { name: "Lines" });
    expect(lines.textContent).toContain("second line");
    expect(lines.textContent).not.toContain("first line");
  });

  it("is asked for again while it is running", async () => {
    const open = attempt(4, { status: "working", directive: null, delay: null, error: null });
    wholes = [whole(open)];
    history.replaceState(null, "", `/runs/9?tab=attempts&attempt=${open.seq}`);
    const grow = show(14);
    const outcome = await screen.findByRole("region", { name: "Outcome" });
    expect(outcome.textContent).toContain("It is running.");
    wholes = [whole(attempt(4, { status: "ok", error: null }), { result: { rows: 3 } })];
    grow(15);
    await waitFor(() => expect(outcome.textContent).toContain("rows: 3"));
  });

  it("closes with Escape", async () => {
    history.replaceState(null, "", "/runs/9?tab=attempts&attempt=8");
    show();
    fireEvent.keyDown(await screen.findByRole("region", { name: "Inputs" }), { key: "Escape" });
    await waitFor(() => expect(location.search).not.toContain("attempt=8"));
  });

  it("says so when there is none like it", async () => {
    history.replaceState(null, "", "/runs/9?tab=attempts&attempt=77");
    vi.mocked(fetch).mockImplementation(async (input) =>
      String(input).includes("/attempts/77")
        ? Response.json({ title: "not found", status: 404, detail: "no attempt" }, { status: 404 })
        : Response.json(page),
    );
    show();
    expect((await screen.findByRole("alert")).textContent).toContain("no attempt");
  });
});

describe("two attempts", () => {
  it("are compared with the one before, by path", async () => {
    history.replaceState(null, "", "/runs/9?tab=attempts&attempt=11");
    show();
    fireEvent.click(await screen.findByRole("button", { name: "with attempt 2" }));
    const inputs = await screen.findByRole("list", { name: "Inputs: what differs" });
    expect(inputs.textContent).toContain("params.page");
    expect(inputs.querySelector("del")?.textContent).toBe("2");
    expect(inputs.querySelector("ins")?.textContent).toBe("3");
    expect(screen.getByRole("region", { name: "Error" }).textContent).toContain("the same");
    expect(location.search).toContain("with=8");
  });

  it("are the first and the last, and any row of the table", async () => {
    history.replaceState(null, "", "/runs/9?tab=attempts&attempt=8");
    show();
    fireEvent.click(await screen.findByRole("button", { name: "first with last" }));
    await waitFor(() => expect(location.search).toContain("attempt=11&with=5"));
    const compare = { name: "Compare with fetch.page, attempt 2 of 8" };
    fireEvent.click(await screen.findByRole("button", compare));
    await waitFor(() => expect(location.search).toContain("attempt=11&with=8"));
  });

  it("have their logs compared line by line", async () => {
    wholes = wholes.map((one) => ({ ...one, logs: { stdout: `same\nrow ${one.attempt}` } }));
    history.replaceState(null, "", "/runs/9?tab=attempts&attempt=11&with=5");
    show();
    const logs = await screen.findByRole("region", { name: "Logs, line by line" });
    expect(logs.querySelector(".diff-old")?.textContent).toContain("row 1");
    expect(logs.querySelector(".diff-new")?.textContent).toContain("row 3");
  });
});
