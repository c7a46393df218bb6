import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { GraphShown } from "../../src/api/types";
import { FlowGraph } from "../../src/graph/FlowGraph";
import { layoutOf } from "../../src/graph/layout";
import { neighbour } from "../../src/graph/neighbours";
import { structureOf } from "../../src/graph/useLayout";
import { firstView, isInSight, wholeView } from "../../src/graph/views";
import {
  BRANCHES_GRAPH,
  done,
  edge,
  HOSTILE,
  largeGraph,
  LOOP_GRAPH,
  node,
  RETRYING_GRAPH,
} from "../fixtures/pictures";

const NOBODY = (): void => undefined;

beforeEach(() => {
  window.matchMedia ??= vi.fn();
  vi.spyOn(window, "matchMedia").mockReturnValue({ matches: true } as MediaQueryList);
});

function shown(graph: GraphShown, selected: string | null = null): HTMLElement {
  return render(<FlowGraph graph={graph} selected={selected} onSelect={NOBODY} />).container;
}

function arc(container: HTMLElement, name: string): Element | null {
  return [...container.querySelectorAll("[data-arc]")].find(
    (one) => one.getAttribute("data-arc") === name,
  ) as Element | null;
}

/** What is drawn of a step; the button over it says the same in words. */
function drawn(name: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(`.graph-node[data-step="${name}"]`);
  if (found === null) throw new Error(`${name} is not drawn`);
  return found;
}

describe("a graph of a run", () => {
  it("says of a retrying step which attempt comes, when, and what went wrong", () => {
    shown(RETRYING_GRAPH);
    const step = screen.getByRole("button", { name: /^fetch_orders/ });
    const seen = within(drawn("fetch_orders"));
    expect(seen.getByText("4/8")).toBeTruthy();
    expect(seen.getByText("retrying")).toBeTruthy();
    expect(seen.getByText(/^0:(3|4)\d$/)).toBeTruthy();
    expect(seen.getByText("HTTP 429: slow down")).toBeTruthy();
    expect(step.getAttribute("aria-label")).toBe(
      "fetch_orders, retrying, attempt 4 of 8, HTTP 429: slow down",
    );
  });

  it("counts the iterations of a loop", () => {
    shown(LOOP_GRAPH);
    const step = drawn("fetch_pages");
    expect(within(step).getByText("2,214 / 2,500 · 3 failed")).toBeTruthy();
    const filled = step.querySelector<HTMLElement>(".graph-progress-done");
    expect(filled?.style.width).toBe(`${(100 * 2_214) / 2_500}%`);
  });

  it("lights the arcs that were taken, and marks the last one", () => {
    const container = shown(BRANCHES_GRAPH);
    expect(arc(container, "split → docs")?.classList).toContain("graph-lit");
    expect(arc(container, "ship → end")?.classList).toContain("graph-faint");
    expect(arc(container, "unit_tests → fix")?.classList).toContain("graph-failure");
    expect(container.querySelectorAll(".graph-arc-halo")).toHaveLength(1);
    expect(arc(container, "merge → review")?.querySelector(".graph-arc-halo")).toBeTruthy();
    expect([...container.querySelectorAll(".graph-count")].map((one) => one.textContent)).toContain(
      "×2",
    );
  });

  it("tells roles, gates and people by words too", () => {
    shown(BRANCHES_GRAPH);
    expect(screen.getByRole("button", { name: "split, fork, done" })).toBeTruthy();
    expect(drawn("split").className).toContain("graph-role-fork");
    expect(
      screen.getByRole("button", { name: /^unit_tests, goal gate, failed, 2 retries, 2 visits/ }),
    ).toBeTruthy();
    expect(screen.getByRole("button", { name: /review, person, waits for a person/ })).toBeTruthy();
  });

  it("lists steps and where they lead for those who do not see it", () => {
    shown(BRANCHES_GRAPH);
    const list = screen.getByRole("list", { name: "Steps and where they lead" });
    expect(list.textContent).toContain("fix (when outcome = fail, on failure, taken 1 time)");
    expect(list.textContent).toContain("review (taken 1 time, taken last)");
  });

  it("shows hostile names as text", () => {
    const nodes = [
      done(HOSTILE, { is_entry: true, lines: [HOSTILE], trouble: HOSTILE }),
      node("b"),
    ];
    const container = shown({ nodes, edges: [edge(HOSTILE, "b", { label: HOSTILE })] });
    expect(container.querySelector("img")).toBeNull();
    expect(container.querySelector(".graph-name")?.textContent).toBe(HOSTILE);
    expect(container.querySelector(".graph-label")?.textContent).toBe(HOSTILE);
  });

  it("says nothing of states for a program that is not run", () => {
    shown({ nodes: [node("a", { is_entry: true }), node("b")], edges: [edge("a", "b")] });
    expect(screen.queryByText("not reached")).toBeNull();
    expect(document.querySelector(".graph-faint")).toBeNull();
  });

  it("stays a run at a moment before its first step", () => {
    const view = render(<FlowGraph graph={RETRYING_GRAPH} selected={null} onSelect={NOBODY} />);
    const nodes = RETRYING_GRAPH.nodes.map((one) => node(one.name, { lines: one.lines }));
    view.rerender(
      <FlowGraph graph={{ ...RETRYING_GRAPH, nodes }} selected={null} onSelect={NOBODY} />,
    );
    expect(screen.getAllByText("not reached")).toHaveLength(nodes.length);
  });

  it("has a map only where it is large", () => {
    expect(shown(RETRYING_GRAPH).querySelector(".react-flow__minimap")).toBeNull();
    expect(shown(largeGraph(60)).querySelector(".react-flow__minimap")).toBeTruthy();
  });

  it("says what to expect where there is nothing to draw", () => {
    shown({ nodes: [], edges: [] });
    expect(screen.getByText("This program has no steps to draw.")).toBeTruthy();
  });
});

describe("the keyboard in a graph", () => {
  it("has one stop, from which arrow keys lead along the arcs", async () => {
    const onSelect = vi.fn();
    render(<FlowGraph graph={BRANCHES_GRAPH} selected={null} onSelect={onSelect} />);
    const stops = document.querySelectorAll('.graph-hit[tabindex="0"]');
    expect([...stops].map((one) => one.getAttribute("data-hit"))).toEqual(["plan"]);
    const first = screen.getByRole("button", { name: /^plan/ });
    act(() => first.focus());
    fireEvent.keyDown(first, { key: "ArrowDown" });
    await waitFor(() => expect(document.activeElement?.getAttribute("data-hit")).toBe("split"));
    const split = screen.getByRole("button", { name: /^split/ });
    expect(split.tabIndex).toBe(0);
    expect(first.tabIndex).toBe(-1);
    fireEvent.keyDown(split, { key: "Enter" });
    expect(onSelect).toHaveBeenLastCalledWith("split");
    fireEvent.keyDown(split, { key: "Escape" });
    expect(onSelect).toHaveBeenLastCalledWith(null);
  });

  it("goes down to what a step leads to and sideways within a layer", () => {
    const layout = layoutOf(structureOf(BRANCHES_GRAPH, true));
    const next = (from: string, way: "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight") =>
      neighbour(layout, BRANCHES_GRAPH.edges, from, way);
    // The arc that comes back to it from nearer by is not where it leads.
    expect(next("plan", "ArrowDown")).toBe("split");
    expect(next("merge", "ArrowUp")).not.toBe("split");
    expect(next("lint", "ArrowRight")).toBe("unit_tests");
    expect(next("unit_tests", "ArrowLeft")).toBe("lint");
    expect(next("plan", "ArrowUp")).toBeNull();
  });

  it("is entered at the selected step", () => {
    shown(BRANCHES_GRAPH, "review");
    const step = screen.getByRole("button", { name: /^review/ });
    expect(step.tabIndex).toBe(0);
    expect(step.getAttribute("aria-pressed")).toBe("true");
  });
});

describe("what is in sight", () => {
  const canvas = { width: 800, height: 500 };

  it("is all of it, in the middle, where that can be read", () => {
    const layout = layoutOf(structureOf(RETRYING_GRAPH, true));
    const view = firstView(layout, { width: 1_200, height: 800 }, null);
    expect(view.zoom).toBe(1);
    expect(view.x).toBeCloseTo((1_200 - layout.width) / 2);
  });

  it("is the step that matters where all of it would be too small", () => {
    const layout = layoutOf(structureOf(largeGraph(120), true));
    const place = layout.places.get("step_60") ?? null;
    expect(wholeView(layout, canvas).zoom).toBeLessThan(0.5);
    const view = firstView(layout, canvas, place);
    expect(view.zoom).toBeGreaterThanOrEqual(0.75);
    expect(place && isInSight(place, view, canvas)).toBe(true);
  });
});
