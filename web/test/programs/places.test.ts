import { expect, test } from "vitest";

import { linesOf, stepAt } from "../../src/pages/programs/document/places";
import { DOCUMENT, edge, GRAPH, node } from "./fixtures";

const playbook = { text: DOCUMENT, language: "playbook" };

test("a step of a playbook has the lines that are indented below it", () => {
  expect(linesOf(GRAPH, "fetch", playbook)).toEqual([4, 5, 6, 7, 8]);
});

test("the last step ends where something else starts", () => {
  expect(linesOf(GRAPH, "store", playbook)).toEqual([10, 11, 12]);
});

test("a node of a graph has its own line and those of its edges", () => {
  const graph = {
    nodes: [node("start", 2), node("build", 3)],
    edges: [edge("start", "build", 9), edge("build", "start", 11)],
  };
  expect(linesOf(graph, "start", { text: "", language: "dot" })).toEqual([2, 9]);
});

test("a step that is not there has no lines", () => {
  expect(linesOf(GRAPH, "elsewhere", playbook)).toEqual([]);
});

test("a line belongs to the step above it, and what is above all belongs to none", () => {
  expect(stepAt(GRAPH, 6)).toBe("fetch");
  expect(stepAt(GRAPH, 12)).toBe("store");
  expect(stepAt(GRAPH, 2)).toBeNull();
});

test("the line of an edge of a graph belongs to the step it leaves", () => {
  const graph = {
    nodes: [node("start", 2), node("build", 3)],
    edges: [edge("start", "build", 9)],
  };
  expect(stepAt(graph, 9)).toBe("start");
});
