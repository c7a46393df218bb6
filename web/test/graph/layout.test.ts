import { describe, expect, it } from "vitest";

import type { GraphShown } from "../../src/api/types";
import { backward } from "../../src/graph/backward";
import { layoutOf, type Layout, type Place } from "../../src/graph/layout";
import { structureOf } from "../../src/graph/useLayout";
import { BRANCHES_GRAPH, edge, largeGraph, node, RETRYING_GRAPH } from "../fixtures/pictures";

function laidOut(graph: GraphShown, isRun = true): Layout {
  return layoutOf(structureOf(graph, isRun));
}

function place(layout: Layout, name: string): Place {
  const found = layout.places.get(name);
  if (found === undefined) throw new Error(`${name} has no place`);
  return found;
}

function overlap(one: Place, other: Place): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

/** The corners of a path, without those that only bend it. */
function corners(path: string): { x: number; y: number }[] {
  return [...path.matchAll(/[MLC]([^MLC]*)/g)].map(([, numbers = ""]) => {
    const [x = 0, y = 0] = numbers.trim().split(/\s+/).slice(-2).map(Number);
    return { x, y };
  });
}

describe("the layout of a graph", () => {
  it("puts what comes later below, and the entry at the top", () => {
    const layout = laidOut(BRANCHES_GRAPH);
    const order = ["plan", "split", "unit_tests", "merge", "review", "ready", "ship", "end"];
    const tops = order.map((name) => place(layout, name).y);
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
    expect(new Set(tops).size).toBe(order.length);
  });

  it("lets no two steps overlap, and keeps all of them in the picture", () => {
    const layout = laidOut(largeGraph(80));
    const places = [...layout.places.values()];
    for (const [at, one] of places.entries()) {
      expect(places.slice(at + 1).some((other) => overlap(one, other))).toBe(false);
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.x + one.width).toBeLessThanOrEqual(layout.width);
      expect(one.y + one.height).toBeLessThanOrEqual(layout.height);
    }
  });

  it("turns the arcs back that failures and gates take, not the way things go well", () => {
    const names = BRANCHES_GRAPH.nodes.map((one) => one.name);
    const arcs = BRANCHES_GRAPH.edges.map((one) => ({ ...one, isFailure: one.is_failure }));
    const back = [...backward(names, arcs)].map((at) => arcs[at]);
    expect(back.map((arc) => `${arc?.source} ${arc?.target}`)).toEqual([
      "fix plan",
      "end unit_tests",
    ]);
  });

  it("ends each arc at the steps it joins, from below and from above", () => {
    const layout = laidOut(BRANCHES_GRAPH);
    BRANCHES_GRAPH.edges.forEach((arc, number) => {
      const route = layout.routes[number];
      const [source, target] = [place(layout, arc.source), place(layout, arc.target)];
      if (!route || arc.source === arc.target) return;
      const [start, end] = [corners(route.path).at(0), corners(route.path).at(-1)];
      expect(start?.y).toBeCloseTo(route.isBack ? source.y : source.y + source.height, 0);
      expect(end?.y).toBeCloseTo(route.isBack ? target.y + target.height + 8 : target.y - 8, 0);
      expect(end?.x).toBeGreaterThan(target.x);
      expect(end?.x).toBeLessThan(target.x + target.width);
    });
  });

  it("draws no arc through a step", () => {
    const graph = largeGraph(60);
    const layout = laidOut(graph);
    graph.edges.forEach((arc, number) => {
      const others = [...layout.places].filter(
        ([name]) => name !== arc.source && name !== arc.target,
      );
      for (const { x, y } of corners(layout.routes[number]?.path ?? "")) {
        const hit = others.find(
          ([, at]) => x > at.x && x < at.x + at.width && y > at.y + 1 && y < at.y + at.height - 1,
        );
        expect(hit?.[0]).toBeUndefined();
      }
    });
  });

  it("lets arcs leave a step side by side", () => {
    const layout = laidOut(BRANCHES_GRAPH);
    const starts = BRANCHES_GRAPH.edges.flatMap((arc, number) =>
      arc.source === "split" ? corners(layout.routes[number]?.path ?? "").slice(0, 1) : [],
    );
    const xs = starts.map((start) => start.x);
    expect(new Set(xs).size).toBe(3);
    // In the order of the document.
    expect(xs).toEqual(xs.toSorted((one, other) => one - other));
  });

  it("draws an arc from a step to itself next to it", () => {
    const layout = laidOut({ nodes: [node("poll")], edges: [edge("poll", "poll")] });
    const at = place(layout, "poll");
    const [start, end] = corners(layout.routes[0]?.path ?? "");
    expect(start?.x === at.x || start?.x === at.x + at.width).toBe(true);
    expect(end?.y).toBeGreaterThan(start?.y ?? Infinity);
  });

  it("does not move when a run continues", () => {
    const later = {
      ...RETRYING_GRAPH,
      nodes: RETRYING_GRAPH.nodes.map((one) => ({
        ...one,
        status: "done" as const,
        trouble: null,
        until: null,
        visits: 3,
      })),
      edges: RETRYING_GRAPH.edges.map((one) => ({ ...one, taken: 12, last: 80 })),
    };
    expect(structureOf(later, true)).toEqual(structureOf(RETRYING_GRAPH, true));
  });

  it("takes any text for a name, and leaves out arcs to nowhere", () => {
    const names = ["__proto__", "constructor", "<b>", "a b", "0"];
    const nodes = names.map((name) => node(name));
    const edges = [edge("__proto__", "constructor"), edge("<b>", "missing"), edge("0", "a b")];
    const layout = laidOut({ nodes, edges });
    expect([...layout.places.keys()].toSorted()).toEqual(names.toSorted());
    expect(layout.routes.map((route) => route !== null)).toEqual([true, false, true]);
    expect(place(layout, "constructor").y).toBeGreaterThan(place(layout, "__proto__").y);
  });
});

describe("the layout of any graph", () => {
  function anyGraph(seed: number): GraphShown {
    let state = seed;
    const below = (limit: number): number => {
      state = (state * 16_807) % 2_147_483_647;
      return state % limit;
    };
    const count = 2 + below(9);
    const name = (): string => `s${below(count)}`;
    return {
      nodes: Array.from({ length: count }, (_, at) => node(`s${at}`, { is_entry: at === 0 })),
      edges: Array.from({ length: below(20) }, () =>
        edge(name(), name(), { label: below(2) ? "when" : "", is_failure: below(3) === 0 }),
      ),
    };
  }

  it("has a place for every step and a way for every arc, circles and doubles too", () => {
    for (let seed = 1; seed <= 25; seed++) {
      const graph = anyGraph(seed);
      const layout = laidOut(graph);
      const places = [...layout.places.values()];
      expect(places.every((at) => Number.isFinite(at.x) && Number.isFinite(at.y))).toBe(true);
      expect(layout.places.size).toBe(graph.nodes.length);
      expect(layout.routes.every((route) => route && !route.path.includes("NaN"))).toBe(true);
      expect(places.some((one, at) => places.slice(at + 1).some((o) => overlap(one, o)))).toBe(
        false,
      );
    }
  });

  it("keeps the words of two arcs between the same steps apart", () => {
    const edges = [
      edge("a", "b", { label: "rows > 0" }),
      edge("a", "b", { label: "rows == 0 and not retried" }),
      edge("b", "a", { label: "again" }),
    ];
    const { routes } = laidOut({ nodes: [node("a", { is_entry: true }), node("b")], edges });
    const xs = routes.map((route) => route?.label.x ?? 0).toSorted((one, other) => one - other);
    expect((xs[1] ?? 0) - (xs[0] ?? 0)).toBeGreaterThan(60);
    expect((xs[2] ?? 0) - (xs[1] ?? 0)).toBeGreaterThan(60);
    expect(routes.map((route) => route?.isBack)).toEqual([false, false, true]);
  });
});
