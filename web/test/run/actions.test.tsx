import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { LaneShown, PreviewShown } from "../../src/api/types";
import { bodyOf, cliOf, firstCut, objectOf, OWN } from "../../src/pages/run/actions/forkWords";
import { Refusal } from "./pretended";
import { failed, NOW, picture, RETRY, RUN } from "./pictured";
import { openPage, serverOf } from "./shownPage";

afterEach(() => {
  vi.unstubAllGlobals();
  localStorage.clear();
});

const PREVIEW: PreviewShown = {
  run: RUN,
  at: 2,
  asked: 2,
  reused: [{ step: "login", visits: 1, executions: 1 }],
  again: [{ step: "fetch", visit: null, iteration: null, task: null, does: "starts" }],
  undone: [{ step: "fetch", task: "page", executions: 3 }],
  effects: [
    {
      step: "fetch",
      task: "page",
      kind: "http",
      what: "POST http://api",
      times: 3,
      key: "new",
      is_certain: true,
    },
  ],
  more_effects: 0,
  notes: [],
  misfits: [],
  differs_at: null,
};

function lane(step: string, ...begins: number[]): LaneShown {
  const bars = begins.map((begin) => ({
    begin,
    end: begin + 1,
    kind: "ok" as const,
    task: "t",
    attempt: 1,
    visit: 1,
    is_open: false,
  }));
  const head = { step, status: "done" as const, visits: 1, attempts: 1, depth: 0 };
  return { ...head, bars, density: null, loop: null };
}

// `store` was the last to begin, and is not the last in the list.
const LANES = { begin: NOW, seconds: 9, lanes: [lane("store", 1, 7), lane("fetch", 2)], more: 0 };

const box = async (): Promise<HTMLElement> => screen.findByRole("dialog");

function confirm(dialog: HTMLElement): void {
  const form = dialog.querySelector("form");
  if (form === null) throw new Error("the box asks nothing");
  fireEvent.submit(form);
}

describe("what can be done to a run", () => {
  it("r and Enter run it now, as the command lines say", async () => {
    const server = serverOf(picture()).on(/\/skip$/, () => ({
      run: RUN,
      status: "running",
      changed: true,
    }));
    openPage();
    await screen.findByRole("button", { name: "Run now" });
    fireEvent.keyDown(document.body, { key: "r" });
    const dialog = await box();
    expect(document.activeElement?.textContent).toBe("Run now");
    expect(dialog.textContent).toContain("Attempt 4 of fetch starts now.");
    fireEvent.change(within(dialog).getByLabelText("Your name, for the log"), {
      target: { value: "ann" },
    });
    expect(within(dialog).getByLabelText("command line").textContent).toContain(
      `anew skip ${RUN} fetch --visit 1 --by ann --server`,
    );
    confirm(dialog);
    expect(await screen.findByText(/fetch continues now\./)).toBeTruthy();
    expect(server.asked("/skip")[0]?.body).toEqual({ step: "fetch", visit: 1, by: "ann" });
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("several waits can be ended at once, or one of them", async () => {
    const waits = [0, 1].map((iteration) => ({ ...RETRY, iteration }));
    const server = serverOf(picture({ waits })).on(/\/skip$/, () => ({ changed: true }));
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Run now: fetch[1]" }));
    confirm(await box());
    await waitFor(() => expect(server.asked("/skip")).toHaveLength(1));
    expect(server.asked("/skip")[0]?.body).toEqual({ step: "fetch", visit: 1, iteration: 1 });
    fireEvent.click(screen.getByRole("button", { name: "Run now …" }));
    expect((await box()).textContent).toContain("all 2 waits");
    confirm(await box());
    await waitFor(() => expect(server.asked("/skip")).toHaveLength(2));
    expect(server.asked("/skip")[1]?.body).toEqual({});
  });

  it("a key that someone types into a field does nothing else", async () => {
    serverOf(
      picture({
        questions: [
          {
            run: RUN,
            step: "ask",
            task: "t",
            question: "Why?",
            choices: [],
            deadline: null,
            asked: 5,
          },
        ],
      }),
    );
    openPage();
    fireEvent.keyDown(await screen.findByLabelText("Your answer"), { key: "r" });
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("cancel takes a reason, and a refusal stays in the box", async () => {
    const server = serverOf(picture()).on(/\/cancel$/, () => {
      throw new Refusal(409, "it cannot be cancelled just now");
    });
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    const dialog = await box();
    fireEvent.change(within(dialog).getByLabelText("Why, for the log"), {
      target: { value: "wrong region" },
    });
    confirm(dialog);
    expect((await within(dialog).findByRole("alert")).textContent).toContain("just now");
    expect(server.asked("/cancel")[0]?.body).toEqual({ reason: "wrong region" });
  });

  it("harm asks why first, and does not wait on the button that does it", async () => {
    serverOf(picture());
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(document.activeElement).toBe(within(await box()).getByLabelText("Why, for the log"));
  });

  it("what was done has the focus, and what the run is at once that is closed", async () => {
    let live = picture();
    serverOf(() => live).on(/\/cancel$/, () => {
      live = picture({ status: "cancelled", state: "cancelled", waits: [] });
      return { run: RUN, status: "cancelled", changed: true };
    });
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
    confirm(await box());
    const said = await screen.findByRole("group", { name: "What was done" });
    expect(document.activeElement).toBe(said);
    await waitFor(() => expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull());
    fireEvent.click(within(said).getByRole("button", { name: "Close" }));
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "Verdict" }));
  });

  it("a change that nobody answered is not said to be tried again", async () => {
    const server = serverOf(picture());
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Pause" }));
    const dialog = await box();
    server.isDown = true;
    confirm(dialog);
    const said = (await within(dialog).findByRole("alert")).textContent;
    expect(said).toContain("Whether anything changed is not known");
    expect(said).not.toContain("on its own");
  });

  it("a preview that nobody answered has changed nothing", async () => {
    const server = serverOf(failed());
    openPage();
    const button = await screen.findByRole("button", { name: "Retry from …" });
    server.isDown = true;
    fireEvent.click(button);
    const said = await within(await box()).findByRole("alert");
    expect(said.textContent).toContain("Nothing was changed");
  });

  it("the past can be forked, and nothing else be done to it", async () => {
    const waits = [0, 1].map((iteration) => ({ ...RETRY, iteration }));
    serverOf(picture({ waits }));
    openPage("?at=7");
    const bar = await screen.findByRole("toolbar", { name: "Actions" });
    const able = within(bar)
      .getAllByRole<HTMLButtonElement>("button")
      .filter((button) => !button.disabled);
    expect(able.map((button) => button.textContent)).toEqual(["Fork at event 7 …", "?"]);
    const pause = within(bar).getByRole("button", { name: "Pause" });
    const reason = document.getElementById(pause.getAttribute("aria-describedby") ?? "");
    expect(reason?.textContent).toContain("go back to now");
    expect(screen.queryByRole("button", { name: /^Run now:/ })).toBeNull();
    fireEvent.keyDown(document.body, { key: "p" });
    fireEvent.keyDown(document.body, { key: "r" });
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("an answer is confirmed, and goes to the run that asks", async () => {
    const child = "99";
    const server = serverOf(
      picture({
        questions: [
          {
            run: child,
            step: "ask",
            task: "t",
            question: "Deploy?",
            choices: ["[Y] Yes", "[N] No"],
            deadline: null,
            asked: 8,
          },
        ],
      }),
    ).on(/\/answer$/, () => ({}));
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "[Y] Yes" }));
    expect(server.asked("/answer")).toHaveLength(0);
    confirm(await box());
    await waitFor(() => expect(server.asked(`/runs/${child}/answer`)).toHaveLength(1));
    expect(server.asked("/answer")[0]?.body).toEqual({
      answer: "[Y] Yes",
      step: "ask",
      asked: 8,
    });
  });

  it("a signal carries JSON or nothing, and not something between", async () => {
    const awaited = { run: RUN, step: "pay", task: "t", signal: "paid/1", deadline: null };
    const server = serverOf(picture({ signals: [awaited] })).on(/\/signals\//, () => ({
      accepted: true,
    }));
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Send the signal …" }));
    const dialog = await box();
    const send = within(dialog).getByRole("button", { name: "Send the signal" });
    const field = within(dialog).getByLabelText(/What it carries/);
    fireEvent.change(field, { target: { value: '{"amount": ' } });
    expect(send.hasAttribute("disabled")).toBe(true);
    fireEvent.change(field, { target: { value: '{"amount": 12}' } });
    confirm(dialog);
    await waitFor(() => expect(server.asked("/signals/paid%2F1")).toHaveLength(1));
    expect(server.asked("/signals/")[0]?.body).toEqual({ amount: 12 });
  });
});

describe("a new run out of this one", () => {
  it("is shown before it is started, and linked after", async () => {
    const server = serverOf(failed()).on(/\/retry$/, (_, body) =>
      (body as { dry_run?: boolean }).dry_run
        ? { preview: PREVIEW }
        : { run: "11", status: "queued" },
    );
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Retry from …" }));
    const dialog = await box();
    const told = await within(dialog).findByRole("group", { name: "What will happen" });
    expect(told.textContent).toContain("login: 1 visit, 1 execution");
    expect(told.textContent).toContain(
      "again: fetch.page (http) POST http://api, 3 times, with another idempotency key",
    );
    await waitFor(() =>
      expect(
        within(dialog).getByRole("button", { name: "Start the new run" }).hasAttribute("disabled"),
      ).toBe(false),
    );
    confirm(dialog);
    expect((await screen.findByRole("link", { name: "11" })).getAttribute("href")).toBe("/runs/11");
    expect(server.asked("/retry").at(-1)?.body).toEqual({ step: "fetch" });
  });

  it("is not started where it does not fit", async () => {
    const misfit = { message: "step store is gone", line: 9, step: null, task: null };
    const misfits = [{ ...misfit, file: null, column: null }];
    const server = serverOf(picture())
      .on(/\/fork$/, () => ({ preview: { ...PREVIEW, misfits } }))
      .on(/\/versions$/, () => ({ versions: [], next: null }));
    openPage("?at=7");
    fireEvent.click(await screen.findByRole("button", { name: "Fork at event 7 …" }));
    const dialog = await box();
    expect(await within(dialog).findByText(/step store is gone/)).toBeTruthy();
    const begin = within(dialog).getByRole("button", { name: "Start the new run" });
    expect(begin.hasAttribute("disabled")).toBe(true);
    // Not even by Enter in a field, which submits the form whatever its button is.
    await act(async () => confirm(dialog));
    expect(server.asked("/fork").every((one) => (one.body as { dry_run?: boolean }).dry_run)).toBe(
      true,
    );
    expect(server.asked("/fork")[0]?.body).toMatchObject({ at: 7 });
  });

  it("starts with the step that failed, unless someone says otherwise", async () => {
    const server = serverOf(failed())
      .on(/\/fork$/, () => ({ preview: PREVIEW }))
      .on(/\/versions$/, () => ({ versions: [], next: null }));
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "Fork …" }));
    const dialog = await box();
    await within(dialog).findByRole("group", { name: "What will happen" });
    expect(server.asked("/fork").map((one) => one.body)).toEqual([
      { step: "fetch", cancel: false, dry_run: true },
    ]);
    expect(within(dialog).getByLabelText("command line").textContent).toContain("--from fetch");
    fireEvent.change(within(dialog).getByLabelText("Start"), { target: { value: "" } });
    fireEvent.change(within(dialog).getByLabelText(/Share the log/), { target: { value: "5" } });
    await waitFor(() =>
      expect(server.asked("/fork").at(-1)?.body).toEqual({ at: 5, cancel: false, dry_run: true }),
    );
  });

  it.each([
    [picture(), { at: null, step: null }],
    [picture({ status: "cancelled", state: "cancelled" }), { at: 12, step: null }],
    [picture({ status: "done", state: "done", lanes: LANES }), { at: null, step: "store" }],
    [failed({ failed_step: null, lanes: LANES }), { at: null, step: "store" }],
  ])("is cut where there is something left to do (%#)", (found, cut) => {
    expect(firstCut(found)).toEqual(cut);
  });

  it("has the same words as a request and as a command", () => {
    const version = { kind: "version", version: 3 } as const;
    const wanted = {
      step: null,
      at: 7,
      changes: { url: "http://b" },
      chosen: version,
      cancels: true,
    };
    expect(bodyOf("flaky_api", wanted)).toEqual({
      at: 7,
      workload: { url: "http://b" },
      program: "flaky_api",
      version: 3,
      cancel: true,
    });
    expect(cliOf(picture(), wanted).join(" ")).toBe(
      `fork ${RUN} --at 7 --program flaky_api@3 --payload {"url":"http://b"} --cancel`,
    );
    const plain = { step: null, at: null, changes: {}, chosen: OWN, cancels: false };
    expect(bodyOf("flaky_api", plain)).toEqual({});
    expect(cliOf(picture(), plain)).toEqual(["fork", RUN]);
    const before = { ...plain, step: "fetch", at: 7 };
    expect(bodyOf("flaky_api", before)).toEqual({ step: "fetch" });
    expect(cliOf(picture(), before)).toEqual(["fork", RUN, "--from", "fetch"]);
  });

  it.each([
    ["", {}],
    ['{"a": 1}', { a: 1 }],
    ["[1]", null],
    ["null", null],
    ['{"a"', null],
  ])("takes %j as changes to the workload only where it is an object", (text, changes) => {
    expect(objectOf(text)).toEqual(changes);
  });
});
