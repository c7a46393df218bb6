import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { HOSTILE } from "../fixtures/pictures";
import { inspected, played, whatif } from "../programs/fixtures";
import { event } from "./pretended";
import { failed, picture, RETRY, RUN } from "./pictured";
import { Refusal } from "./pretended";
import { openPage, serverOf } from "./shownPage";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const verdict = async (): Promise<HTMLElement> => screen.findByRole("region", { name: "Verdict" });

describe("the page of a run", () => {
  it("says what the run waits for, and counts down by the server's clock", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    // This machine is a minute fast; the server has 41 seconds to go.
    vi.setSystemTime(new Date("2026-03-01T12:02:00Z"));
    serverOf(picture());
    openPage();
    const said = await verdict();
    const sentence = "Waiting to retry fetch (attempt 4 of 8) in 0:41: HTTP 429, Retry-After 60 s";
    await waitFor(() => expect(said.textContent).toContain(sentence));
    act(() => void vi.advanceTimersByTime(11_000));
    expect(said.textContent).toContain("in 0:30: HTTP 429");
    act(() => void vi.advanceTimersByTime(60_000));
    expect(said.textContent).toContain("(attempt 4 of 8), due now: HTTP 429");
  });

  it("tells whoever hears it the hour at which it continues", async () => {
    const until = new Date(Date.now() + 41_000).toISOString();
    serverOf(picture({ verdict: { ...RETRY, headline: "nap continues", until, details: [] } }));
    openPage();
    const heard = within(await verdict()).getByRole("status").textContent;
    expect(heard).toMatch(/^retrying: nap continues at .*\d+:\d\d:\d\d/);
  });

  it("says that a run is given up, and what that is", async () => {
    serverOf(failed({ state: "dead" }));
    openPage();
    const said = await verdict();
    expect(said.textContent).toContain("Given up: failed in step fetch after 3 attempts");
    expect(said.textContent).toContain("the workers that had it were lost");
    const link = within(said).getByRole("link", { name: "Workers" });
    expect(link.getAttribute("href")).toBe("/workers");
  });

  it("says what it is to sleep", async () => {
    serverOf(picture({ state: "parked" }));
    openPage();
    expect((await verdict()).textContent).toContain("It holds no worker");
  });

  it("leads to a start of one like it, where its program is registered", async () => {
    serverOf(picture());
    openPage();
    const link = await screen.findByRole("link", { name: "Start one like this" });
    expect(link.getAttribute("href")).toBe(`/programs/flaky_api?tab=start&like=${RUN}`);
  });

  it("leads from a rule to its line, but not from the words of an error", async () => {
    const reason = "SyntaxError at line 3 (rule 1, line 12)";
    serverOf(picture({ verdict: { ...RETRY, reason, details: [] } }));
    openPage();
    const said = await verdict();
    expect(within(said).queryByRole("button", { name: "line 3" })).toBeNull();
    fireEvent.click(within(said).getByRole("button", { name: "line 12" }));
    expect(location.search).toBe("?tab=source&line=12");
  });

  it("leads to the child run it waits for", async () => {
    const headline = "Waiting in ask for child run 77 (running)";
    serverOf(picture({ verdict: { ...RETRY, headline, until: null, details: [] } }));
    openPage();
    const child = within(await verdict()).getByRole("link", { name: "77" });
    expect(child.getAttribute("href")).toBe("/runs/77");
  });

  it("opens a step next to the graph, and an attempt from its bar", async () => {
    serverOf(picture()).on(/\/explanation$/, (url) => ({
      paragraphs: [
        { seq: 6, at: null, step: url.searchParams.get("step"), head: "attempt 2", text: "429" },
      ],
    }));
    openPage();
    fireEvent.click(await screen.findByRole("button", { name: "the graph" }));
    expect(location.search).toBe("?step=fetch");
    const panel = screen.getByRole("region", { name: "Step fetch" });
    expect(panel.textContent).toContain("1 visit, 3 attempts, 3 retries");
    fireEvent.click(await within(panel).findByRole("button", { name: "6" }));
    expect(location.search).toBe("?step=fetch&at=6");
    fireEvent.click(screen.getByRole("button", { name: "a bar" }));
    expect(location.search).toBe("?at=6&tab=attempts&step=fetch&visit=2&number=3");
  });

  it("shows whatever has a name as text", async () => {
    serverOf(
      picture({
        program: HOSTILE,
        key: HOSTILE,
        labels: { [HOSTILE]: HOSTILE },
        verdict: { ...RETRY, headline: HOSTILE, reason: HOSTILE, details: [HOSTILE] },
        questions: [
          {
            run: RUN,
            step: HOSTILE,
            task: "ask",
            question: HOSTILE,
            choices: [HOSTILE],
            deadline: null,
            asked: 5,
          },
        ],
      }),
    );
    openPage();
    await verdict();
    expect(document.querySelector("img")).toBeNull();
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe(HOSTILE);
    expect(screen.getByRole("button", { name: HOSTILE })).toBeTruthy();
  });

  it("asks for a newer picture when something happens", async () => {
    let live = picture();
    const server = serverOf(() => live);
    openPage();
    await verdict();
    await waitFor(() => expect(server.asked("/stream")).toHaveLength(1));
    live = picture({
      events: 14,
      at: 14,
      verdict: { ...RETRY, headline: "Running fetch", reason: "", until: null, details: [] },
    });
    await waitFor(() => {
      server.tell(event(14));
      expect(screen.getByRole("region", { name: "Verdict" }).textContent).toContain(
        "Running fetch",
      );
    });
  });

  it("names the newest event next to the slider while now is shown", async () => {
    const server = serverOf(picture());
    openPage();
    await verdict();
    await waitFor(() => expect(server.asked("/stream")).toHaveLength(1));
    server.tell(event(13, { name: "task.processed" }));
    const slider = screen.getByRole("slider", { name: "Show the run as of event" });
    await waitFor(() =>
      expect(slider.getAttribute("aria-valuetext")).toBe("event 13 of 13, task.processed, now"),
    );
  });

  it("tries another policy on the run in place, under the document it is pinned to", async () => {
    const text = "workflow: []";
    const pinned = { name: "flaky_api", digest: "d", version: 1, newest: 1, file: "flow.yaml" };
    const server = serverOf(failed())
      .on(/\/scenario$/, () => "expect: {}")
      .on(/\/document$/, () => ({ ...pinned, dialect: null, document: text, files: {} }))
      .on(/\/inspect$/, () => inspected());
    server.on(/\/whatif$/, () => whatif([played({ run: RUN })]));
    openPage("?tab=test");
    const editor = await screen.findByLabelText<HTMLTextAreaElement>(/flow\.yaml, to be changed/);
    expect(editor.value).toBe(text);
    const link = screen.getByRole("link", { name: "The same on the page of the program" });
    expect(link.getAttribute("href")).toBe(`/programs/flaky_api?try=${RUN}`);
    const button = screen.getByRole("button", { name: "Try it" });
    await waitFor(() => expect(button.hasAttribute("disabled")).toBe(false));
    fireEvent.click(button);
    await waitFor(() => expect(server.asked("/whatif")).toHaveLength(1));
    expect(server.asked("/whatif")[0]?.body).toMatchObject({ document: text, runs: [RUN] });
  });

  it("keeps what it knows while the server is away, and says so", async () => {
    const server = serverOf(picture());
    openPage();
    await verdict();
    await waitFor(() => expect(server.asked("/stream")).toHaveLength(1));
    server.isDown = true;
    server.cut();
    expect(
      await screen.findByText(/The server cannot be reached/, {}, { timeout: 4_000 }),
    ).toBeTruthy();
    expect((await verdict()).textContent).toContain("Waiting to retry fetch");
    server.isDown = false;
    await waitFor(() => expect(screen.queryByText(/cannot be reached/)).toBeNull(), {
      timeout: 4_000,
    });
  });

  it("says that there is no such run", async () => {
    serverOf(() => {
      throw new Refusal(404, `no run ${RUN} is here`);
    });
    openPage();
    expect((await screen.findByRole("alert")).textContent).toContain(`no run ${RUN} is here`);
    expect(screen.getByRole("link", { name: "All runs" })).toBeTruthy();
  });

  it("counts the runs that failed like this one", async () => {
    serverOf(failed()).on(/\/facets$/, (url) => ({
      total: url.searchParams.get("fingerprint") === "56c3217dc0dc" ? 318 : 0,
    }));
    openPage();
    const others = await screen.findByRole("link", { name: "317 other runs failed like this" });
    expect(others.getAttribute("href")).toBe("/?fingerprint=56c3217dc0dc");
    expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  });
});

describe("the past of a run", () => {
  it("is in the address, is shown in a banner, and offers nothing to skip", async () => {
    const server = serverOf(picture());
    openPage("?at=7&tab=data");
    expect(await screen.findByText("As of event 7 of 13")).toBeTruthy();
    await waitFor(() => expect(server.asked("picture?at=7")).toHaveLength(1));
    expect(screen.getByRole("button", { name: "Fork at event 7 …" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Back to now" }));
    await waitFor(() => expect(location.search).toBe("?tab=data"));
    expect(screen.queryByText(/^As of event/)).toBeNull();
  });

  it("is still: its countdown is that of the moment", async () => {
    serverOf(picture()).on(/\/picture$/, (url) => {
      const at = url.searchParams.get("at");
      return at === null ? picture() : picture({ at: Number(at), now: "2026-03-01T12:00:40Z" });
    });
    openPage("?at=7");
    await waitFor(async () => expect((await verdict()).textContent).toContain("in 1:01: HTTP 429"));
  });

  it("says what an event changed in the context, and what has changed since", async () => {
    const server = serverOf(picture());
    server.on(/\/picture$/, (url) => {
      const at = Number(url.searchParams.get("at") ?? 13);
      return picture({ at, ctx: at < 7 ? {} : at === 7 ? { page: 1 } : { page: 2 } });
    });
    openPage("?at=7&tab=data");
    const by = await screen.findByText("By event 7");
    expect(by.parentElement?.textContent).toContain("page set to 1");
    expect(screen.getByText("Since event 7").parentElement?.textContent).toContain("from 1 to 2");
  });

  it("is walked through with the keys of the page", async () => {
    serverOf(picture());
    openPage();
    await verdict();
    fireEvent.keyDown(document.body, { key: "[" });
    expect(await screen.findByText("As of event 12 of 13")).toBeTruthy();
    await waitFor(() => expect(location.search).toBe("?at=12"));
    fireEvent.keyDown(document.body, { key: "n" });
    await waitFor(() => expect(location.search).toBe(""));
  });
});
