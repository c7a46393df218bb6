import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import type { QuestionAsked } from "../../src/api/types";
import PeoplePage from "../../src/pages/people/PeoplePage";
import { facets, HOSTILE, serve, show, type Server } from "../runs/fixtures";
import { hostile, question, questions, urgent } from "./fixtures";

const RELEASE = question();
const ANSWER = `POST /api/v1/runs/${RELEASE.run}/answer`;

interface Served extends Server {
  sent: unknown[];
  state: { open: QuestionAsked[] };
}

/** `refusal`: what the server says to an answer. */
function served(open: QuestionAsked[], refusal?: { status: number; detail: string }): Served {
  const sent: unknown[] = [];
  const state = { open };
  const server = serve({
    "GET /api/v1/questions": () => questions(...state.open),
    "GET /api/v1/runs/facets": () => facets({ signal: 2 }),
    [ANSWER]: (_, body) => {
      sent.push(body);
      const isOver = refusal === undefined || refusal.status === 409;
      const { asked } = body as { asked: number };
      const at = state.open.findIndex((one) => one.run === RELEASE.run && one.asked === asked);
      if (isOver) state.open = state.open.toSpliced(at, 1);
      if (refusal === undefined) {
        return { run: RELEASE.run, status: "running", question: RELEASE };
      }
      const problem = { type: "about:blank", title: "no", ...refusal };
      return Response.json(problem, { status: refusal.status });
    },
  });
  return { ...server, sent, state };
}

function card(name: string): Promise<HTMLElement> {
  return screen.findByRole("article", { name });
}

beforeEach(() => {
  history.replaceState(null, "", "/people");
  localStorage.clear();
});

describe("the People page", () => {
  it("shows who asks what, until when, and what silence does", async () => {
    served([urgent, RELEASE]);
    show(<PeoplePage />);
    const first = await card("Refund order 4711?");
    expect(first.textContent).toContain("then the step takes Decline");
    expect(screen.getAllByRole("article")).toHaveLength(2);
    const second = await card("Ship the release?");
    expect(second.textContent).toContain("No deadline");
    expect(second.textContent).toContain("team=platform");
    expect(within(second).getByText(RELEASE.run).getAttribute("href")).toBe(`/runs/${RELEASE.run}`);
    expect((await screen.findByText("2 runs wait for a signal")).getAttribute("href")).toBe(
      "/?state=signal",
    );
  });

  it("shows hostile names as text, and takes a text where there are no choices", async () => {
    served([hostile]);
    show(<PeoplePage />);
    const found = await card(HOSTILE);
    expect(document.querySelector("img")).toBeNull();
    expect(found.textContent).toContain(`${HOSTILE}=${HOSTILE}`);
    const button = within(found).getByRole<HTMLButtonElement>("button", { name: "Answer" });
    expect(button.disabled).toBe(true);
    fireEvent.change(within(found).getByLabelText("Your answer"), { target: { value: "  Ada " } });
    expect(button.disabled).toBe(false);
    const line = within(found).getByLabelText("command line").textContent;
    expect(line).toContain(`answer ${hostile.run} Ada --step '${HOSTILE}' --asked 5 --no-wait`);
  });

  it("answers by a letter and Enter, in the name that is kept", async () => {
    const server = served([RELEASE]);
    show(<PeoplePage />);
    fireEvent.change(screen.getByLabelText("Answering as"), { target: { value: "ann" } });
    fireEvent.keyDown(await card("Ship the release?"), { key: "n" });
    const button = screen.getByRole("button", { name: "Answer “Back to the draft” as ann" });
    expect(document.activeElement).toBe(button);
    expect(server.sent).toEqual([]);
    fireEvent.click(button);
    await screen.findByText(/Answered “\[N\] Back to the draft”/);
    expect(server.sent).toEqual([
      { answer: "[N] Back to the draft", step: "approve", asked: 5, by: "ann" },
    ]);
    expect(screen.queryByRole("article")).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole("heading", { name: "People" }));
    expect(localStorage.getItem("anew.by")).toBe("ann");
  });

  it("takes a question away before the server has answered", async () => {
    served([RELEASE, urgent]);
    show(<PeoplePage />);
    fireEvent.keyDown(await card("Ship the release?"), { key: "y" });
    fireEvent.click(screen.getByRole("button", { name: "Answer “Ship it”" }));
    await screen.findByText(/^Sending “\[Y\] Ship it”/);
    expect(screen.queryByRole("article", { name: "Ship the release?" })).toBeNull();
    expect(document.activeElement).toBe(await card("Refund order 4711?"));
    await screen.findByText(/^Answered/);
  });

  it("leaves a picked choice by Escape", async () => {
    const server = served([RELEASE]);
    show(<PeoplePage />);
    const found = await card("Ship the release?");
    fireEvent.click(within(found).getByRole("button", { name: "Ship it" }));
    fireEvent.keyDown(document.activeElement ?? found, { key: "Escape" });
    expect(within(found).queryByText(/^Answer/)).toBeNull();
    expect(document.activeElement).toBe(found);
    expect(server.sent).toEqual([]);
  });

  it("still shows the same question of another iteration", async () => {
    const server = served([RELEASE, question({ asked: 7 })]);
    show(<PeoplePage />);
    await waitFor(() => expect(screen.getAllByRole("article")).toHaveLength(2));
    const [first] = screen.getAllByRole("button", { name: "Ship it" });
    if (first) fireEvent.click(first);
    fireEvent.click(screen.getByRole("button", { name: "Answer “Ship it”" }));
    await waitFor(() => expect(server.sent).toHaveLength(1));
    await card("Ship the release?");
    expect(screen.getAllByRole("article")).toHaveLength(1);
  });

  it("says who was faster", async () => {
    const detail = "That of approve was answered already by bob: [N] Back to the draft.";
    served([RELEASE], { status: 409, detail });
    show(<PeoplePage />);
    fireEvent.keyDown(await card("Ship the release?"), { key: "y" });
    fireEvent.click(screen.getByRole("button", { name: "Answer “Ship it”" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("It is not open any more: That of approve was answered");
    expect(alert.textContent).toContain("by bob");
    fireEvent.click(within(alert).getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.queryByRole("article")).toBeNull();
  });

  it("brings a question back with what was said, when the answer was not taken", async () => {
    served([RELEASE], { status: 422, detail: "fits no choice" });
    show(<PeoplePage />);
    fireEvent.keyDown(await card("Ship the release?"), { key: "y" });
    fireEvent.click(screen.getByRole("button", { name: "Answer “Ship it”" }));
    const alert = await screen.findByRole("alert");
    expect((await card("Ship the release?")).contains(alert)).toBe(true);
    expect(alert.textContent).toBe("fits no choice");
    screen.getByRole("button", { name: "Answer “Ship it”" });
  });

  it("answers any question of a step, whichever was asked first", async () => {
    const later = question({ question: "And this?", asked: 9, asked_at: "2026-03-01T11:59:00Z" });
    const server = served([RELEASE, later]);
    show(<PeoplePage />);
    fireEvent.keyDown(await card("And this?"), { key: "y" });
    fireEvent.click(screen.getByRole("button", { name: "Answer “Ship it”" }));
    await waitFor(() => expect(server.sent).toHaveLength(1));
    expect(server.sent).toEqual([{ answer: "[Y] Ship it", step: "approve", asked: 9 }]);
    await card("Ship the release?");
    await waitFor(() => expect(screen.getAllByRole("article")).toHaveLength(1));
  });

  it("shows a command line that takes a hyphen for no option", async () => {
    served([question({ step: "-s", choices: ["-5 %", "Nothing"] })]);
    show(<PeoplePage />);
    fireEvent.change(screen.getByLabelText("Answering as"), { target: { value: "-ann" } });
    fireEvent.keyDown(await card("Ship the release?"), { key: "1" });
    const words = `answer ${RELEASE.run} --step=-s --asked 5 --by=-ann --no-wait`;
    const line = screen.getByLabelText("command line").textContent;
    expect(line).toBe(`anew ${words} --server ${location.origin} -- '-5 %'`);
  });

  it("keeps the search in the address, and j goes to the next question", async () => {
    served([urgent, RELEASE]);
    show(<PeoplePage />);
    await card("Ship the release?");
    fireEvent.keyDown(document.body, { key: "j" });
    fireEvent.keyDown(document.body, { key: "j" });
    expect(document.activeElement).toBe(await card("Ship the release?"));
    fireEvent.change(screen.getByLabelText("Search"), { target: { value: "REFUND 4711" } });
    expect(location.search).toBe("?text=REFUND+4711");
    expect(screen.getAllByRole("article")).toHaveLength(1);
    fireEvent.change(screen.getByLabelText("Search"), { target: { value: "nothing" } });
    screen.getByText(/No open question has these words/);
  });

  it("asks again when a run changes, and says so where nobody is asked", async () => {
    const server = served([]);
    show(<PeoplePage />);
    await screen.findByText(/Nobody is asked anything/);
    server.state.open = [RELEASE];
    await waitFor(() => expect(server.asked).toContain("GET /api/v1/runs/changes"));
    server.tell({ runs: [RELEASE.run], is_all: false });
    await card("Ship the release?");
  });

  it("takes a question away soon after somebody answered it elsewhere", async () => {
    const server = served([RELEASE]);
    show(<PeoplePage />);
    await card("Ship the release?");
    const asked = () => server.asked.filter((one) => one === "GET /api/v1/questions").length;
    server.tell({ runs: ["380551591516684999"], is_all: false });
    await waitFor(() => expect(asked()).toBe(2));
    server.state.open = [];
    server.tell({ runs: [RELEASE.run], is_all: false });
    // What is told of any run is asked for less often than this.
    await waitFor(() => expect(screen.queryByRole("article")).toBeNull(), { timeout: 3_500 });
  });

  it("keeps what it shows while the server is away", async () => {
    const server = served([RELEASE]);
    show(<PeoplePage />);
    await card("Ship the release?");
    const real = fetch;
    globalThis.fetch = () => Promise.reject(new TypeError("away"));
    server.tell({ runs: [RELEASE.run], is_all: false });
    await screen.findByText(/Not up to date/);
    await card("Ship the release?");
    globalThis.fetch = real;
  });
});
