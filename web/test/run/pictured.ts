// Pictures of a run as the server tells them.

import type { RunPicture, WaitShown } from "../../src/api/types";
import { BEGIN, node } from "../fixtures/pictures";

export const RUN = "380543789848117248";
export const SOON = "2026-03-01T12:01:41Z";
export const NOW = "2026-03-01T12:01:00Z";

export const RETRY: WaitShown = {
  step: "fetch",
  visit: 1,
  iteration: null,
  task: "page",
  attempt: 4,
  attempts: 8,
  doing: "retry_after",
  headline: "Waiting to retry fetch (attempt 4 of 8)",
  reason: "HTTP 429, Retry-After 60 s (rule 1, line 12)",
  since: NOW,
  until: SOON,
  rule: { number: 1, name: null, line: 12, column: 17 },
  retry_after_seconds: 60,
  can_skip: true,
};

export function picture(more: Partial<RunPicture> = {}): RunPicture {
  return {
    run: RUN,
    program: "flaky_api",
    digest: "b83e500c27e89f543550c3e9151bac3e",
    version: 1,
    language: "playbook",
    file: "flaky_api.yaml",
    status: "waiting",
    state: "retrying",
    at: 13,
    events: 13,
    now: NOW,
    created_at: BEGIN,
    updated_at: NOW,
    ended_at: null,
    key: null,
    labels: {},
    parent: null,
    parent_step: null,
    continues: null,
    continued_as: null,
    shared_with: null,
    children: [],
    error: null,
    fingerprint: null,
    failed_step: null,
    verdict: { ...RETRY, details: [] },
    waits: [RETRY],
    more_waits: 0,
    questions: [],
    signals: [],
    graph: {
      nodes: [
        node("fetch", { status: "retrying", visits: 1, attempts: 3, retries: 3, line: 10 }),
        node("store"),
      ],
      edges: [],
    },
    lanes: { begin: BEGIN, seconds: 60, lanes: [], more: 0 },
    rules: [],
    more_rules: 0,
    workload: { base_url: "http://api" },
    ctx: { page: 2 },
    result: null,
    ...more,
  };
}

/** The run has failed, and says so. */
export function failed(more: Partial<RunPicture> = {}): RunPicture {
  return picture({
    status: "failed",
    state: "failed",
    ended_at: NOW,
    waits: [],
    error: { kind: "connection", message: "connection refused" },
    fingerprint: "56c3217dc0dc",
    failed_step: "fetch",
    verdict: {
      headline: "Failed in step fetch after 3 attempts",
      reason: "connection: connection refused",
      details: [],
      since: null,
      until: null,
    },
    ...more,
  });
}
