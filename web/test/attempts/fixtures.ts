// Attempts as the server tells them.

import type { AttemptShown, AttemptWhole, DelayShown } from "../../src/api/types";

export const HOSTILE = "<img src=x onerror=alert(1)>";

export function delay(more: Partial<DelayShown> = {}): DelayShown {
  return {
    backoff: "exponential",
    base_seconds: 2,
    jitter: "none",
    draw: null,
    spread_seconds: 2,
    cap_seconds: null,
    retry_after_seconds: null,
    delay_seconds: 2,
    not_before: "2026-03-01T12:00:02Z",
    text: "exponential 2.0 s",
    ...more,
  };
}

/** The third attempts of a task were refused, say, and this is one of them. */
export function attempt(number: number, more: Partial<AttemptShown> = {}): AttemptShown {
  const seq = 2 + 3 * number;
  return {
    seq,
    ended_seq: seq + 1,
    decided_seq: seq + 2,
    step: "fetch",
    visit: 1,
    iteration: null,
    task: "page",
    kind: "http",
    attempt: number,
    attempts_max: 8,
    started_at: "2026-03-01T12:00:00Z",
    ended_at: "2026-03-01T12:00:00.42Z",
    seconds: 0.42,
    status: "error",
    error: { kind: "rate_limit", retryable: true, message: "HTTP 429 from GET http://api/orders" },
    http_status: 429,
    directive: "retry",
    to: null,
    unmet: null,
    rule: { number: 2, name: null, line: 26, column: 17 },
    delay: delay(),
    skipped: null,
    exhausted: null,
    idempotency_key: "9:fetch:1:0:1",
    has_logs: false,
    ...more,
  };
}

export function whole(of: AttemptShown, more: Partial<AttemptWhole> = {}): AttemptWhole {
  return {
    ...of,
    inputs: { method: "GET", url: "http://api/orders", params: { page: of.attempt } },
    result: null,
    helpers: { http: { status: of.http_status } },
    patches: {},
    logs: {},
    ...more,
  };
}
