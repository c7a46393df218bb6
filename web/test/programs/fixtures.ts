// A program, what the server finds in it, and what another policy would have made of its runs.

import type {
  GraphShown,
  Inspected,
  JsonObject,
  NodeShown,
  ProgramShown,
  WhatifShown,
} from "../../src/api/types";

export const DOCUMENT = `# Two steps.
metadata: {name: orders}
workflow:
  - step: fetch
    tool:
      - page: {kind: http}
    next:
      arcs: [{step: store}]

  - step: store
    tool:
      - kept: {kind: noop}
workbook: []
`;

export function program(more: Partial<ProgramShown> = {}): ProgramShown {
  return {
    name: "orders",
    version: 2,
    digest: "a193aa63a895d3daca18c2591cd9e91b705ce2f232180a3db6f2fb8a91fc904e",
    file: "orders.yaml",
    registered_at: "2026-03-01T11:00:00.000000Z",
    document: DOCUMENT,
    dialect: null,
    files: {},
    ...more,
  };
}

export function node(name: string, line: number, more: Partial<NodeShown> = {}): NodeShown {
  return {
    name,
    lines: [],
    role: "step",
    is_entry: false,
    is_loop: false,
    is_gate: false,
    line,
    status: null,
    doing: null,
    until: null,
    visits: 0,
    attempts: 0,
    retries: 0,
    attempt: null,
    attempts_max: null,
    loop: null,
    trouble: null,
    ...more,
  };
}

export function edge(source: string, target: string, line: number): GraphShown["edges"][number] {
  return { source, target, label: "", is_failure: false, line, taken: 0, last: null };
}

export const GRAPH: GraphShown = {
  nodes: [node("fetch", 4), node("store", 10)],
  edges: [edge("fetch", "store", 8)],
};

const ONE = { bounded: true, at_most: 1 };

export const BOUNDS: JsonObject = {
  file: "orders.yaml",
  program: "orders",
  executions: { bounded: false, at_most: 300 },
  waits_seconds: { bounded: true, at_most: 6300 },
  total_seconds: { bounded: false, at_most: null },
  tasks: [
    {
      program: null,
      step: "fetch",
      task: "page",
      kind: "http",
      file: "orders.yaml",
      line: 6,
      column: 9,
      per_step_run: { bounded: true, at_most: 8 },
      in_run: { bounded: false, at_most: 300 },
      waits_seconds: { bounded: true, at_most: 6300 },
      total_seconds: { bounded: true, at_most: 6540 },
      timeout_seconds: 30,
      timeout_is_default: true,
    },
  ],
  dependencies: [{ kind: "http", name: "<b>shop</b>", executions: ONE, tasks: ["fetch.page"] }],
  path: [],
  unbounded: [
    {
      rule: "loop",
      file: "orders.yaml",
      line: 6,
      column: 9,
      what: "a loop over data",
      ends: "limits.loop_iterations, 10,000,000",
    },
    {
      rule: "loop",
      file: "prices.yaml",
      line: 10,
      column: 5,
      what: "a loop of a child",
      ends: null,
    },
  ],
  assumed: [],
  warnings: [
    {
      rule: "bounds.retry-amplification",
      file: "orders.yaml",
      line: 6,
      column: 9,
      message: "retries multiply",
      suggestion: "Retry in one place.",
    },
  ],
};

export function inspected(more: Partial<Inspected> = {}): Inspected {
  return {
    name: "orders",
    language: "playbook",
    findings: [],
    graph: GRAPH,
    workload: [],
    bounds: BOUNDS,
    bounds_lines: ["orders.yaml: at most ∞ (≤ 300) executions"],
    ...more,
  };
}

export const RUN = "380547283827441664";
const NOTHING = { mean: 0, low: 0, high: 0 };
const NOBODY = { certain: [], supposed: [], modelled: NOTHING, maybe: {} };

/** One run, as `anew whatif --json` tells it. */
export function played(more: JsonObject = {}): JsonObject {
  return {
    run: RUN,
    was: "failed",
    becomes: "done",
    certain: true,
    shares: { done: 1, failed: 0, unknown: 0 },
    calls: { mean: 2, low: 2, high: 2 },
    waiting: { mean: 1.2, low: 0.8, high: 1.7 },
    unknown: [],
    differs: { place: "fetch#1", seq: 19, was: "fail", becomes: "page attempt 3: retry" },
    ...more,
  };
}

export function whatif(each: JsonObject[], more: JsonObject = {}): WhatifShown {
  const report = {
    runs: each.length,
    done: 0,
    failed: each.length,
    certain: each.length,
    supposed: 0,
    skipped: 0,
    rescued: { ...NOBODY, certain: [RUN] },
    broken: NOBODY,
    unknown: NOTHING,
    calls: { before: 10, extra: { mean: 2, low: 2, high: 2 }, tasks: [] },
    waiting: { before: 1, extra: { mean: 1.2, low: 0.8, high: 1.7 }, most: 1.2 },
    policies: ["fetch.page"],
    changes: [],
    left_out: [],
    each,
    ...more,
  };
  return { report, lines: ["1 run (1 failed, 0 done), with orders.yaml:"] };
}
