// Events as the server tells them.

import type { EventRow, JsonObject } from "../../src/api/types";
import type { EventLogState } from "../../src/pages/run/eventLog";

export const HOSTILE = "<img src=x onerror=alert(1)>";

export function event(seq: number, name: string, more: Partial<EventRow> = {}): EventRow {
  return {
    seq,
    at: "2026-03-01T12:00:00.127053Z",
    name,
    step: null,
    visit: null,
    iteration: null,
    task: null,
    attempt: null,
    data: {},
    text: `the text of event ${seq}`,
    ...more,
  };
}

export function ofTask(seq: number, name: string, data: JsonObject): EventRow {
  return event(seq, name, { step: "fetch", visit: 1, task: "page", attempt: 1, data });
}

export const FAILED_TASK = ofTask(6, "task.processed", {
  outcome: {
    status: "error",
    error: { kind: "rate_limit", message: "slow down" },
    helpers: { http: { status: 429 } },
  },
  directive: "retry",
  rule: 2,
});

export const ROWS: EventRow[] = [
  event(1, "run.requested", { text: `requested · program ${HOSTILE}` }),
  event(2, "run.started", { data: { entry: "fetch" } }),
  event(3, "step.scheduled", { step: "fetch", visit: 1, data: { tokens: [1], args: {} } }),
  event(4, "step.started", { step: "fetch", visit: 1 }),
  ofTask(5, "task.started", { inputs: { method: "GET", url: "http://api/orders" } }),
  FAILED_TASK,
  event(7, "step.scheduled", { step: "store", visit: 1, data: { args: { rows: 3 } } }),
];

export function log(rows: readonly EventRow[], more: Partial<EventLogState> = {}): EventLogState {
  return { rows, isWhole: true, state: "open", refused: null, ...more };
}
