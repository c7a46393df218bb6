// The report of `anew bounds --json`, as far as the page shows it.

import type { DocumentFinding, JsonObject } from "../../../api/types";
import { duration } from "../../../words/time";

/** `at_most` null: nothing at all ends it. Not bounded with a number: only a limit of the engine
 * ends it. */
export interface Bound {
  bounded: boolean;
  at_most: number | null;
}

export interface Place {
  file: string | null;
  line: number | null;
  column: number | null;
}

export interface TaskBound extends Place {
  /** Null: this program; else that of a child run. */
  program: string | null;
  step: string;
  task: string;
  kind: string;
  per_step_run: Bound;
  in_run: Bound;
  waits_seconds: Bound;
  total_seconds: Bound;
  timeout_seconds: number | null;
  timeout_is_default: boolean;
}

export interface DependencyBound {
  kind: string;
  name: string;
  executions: Bound;
  tasks: string[];
}

export interface PathBound {
  step: string;
  ends: string;
  tasks: { task: string; executions: Bound }[];
  waits_seconds: Bound;
  total_seconds: Bound;
  again: string | null;
}

export interface OpenReason extends Place {
  rule: string;
  what: string;
  ends: string | null;
}

export interface BoundsWarning extends Place {
  rule: string;
  message: string;
  suggestion: string | null;
}

export interface BoundsReport {
  file: string;
  executions: Bound;
  waits_seconds: Bound;
  total_seconds: Bound;
  tasks: TaskBound[];
  dependencies: DependencyBound[];
  path: PathBound[];
  unbounded: OpenReason[];
  assumed: OpenReason[];
  warnings: BoundsWarning[];
}

export function boundsReport(found: JsonObject): BoundsReport {
  return found as unknown as BoundsReport;
}

/** `8`, `∞`, `∞ (≤ 300)`. */
export function amountText(bound: Bound, format: (number: number) => string = plain): string {
  if (bound.at_most === null) return "∞";
  return bound.bounded ? format(bound.at_most) : `∞ (≤ ${format(bound.at_most)})`;
}

export function timeText(bound: Bound): string {
  return amountText(bound, duration);
}

function plain(number: number): string {
  return number.toLocaleString("en");
}

export function taskName({ program, step, task }: TaskBound): string {
  const name = step === task ? step : `${step}.${task}`;
  return program === null ? name : `${program} > ${name}`;
}

/** The warnings as findings of the document, to be shown in place. */
export function warningsOf(bounds: JsonObject | null): DocumentFinding[] {
  if (bounds === null) return [];
  return boundsReport(bounds).warnings.flatMap(
    ({ file, line, column, rule, message, suggestion }) =>
      file === null || line === null
        ? []
        : [{ severity: "warning", rule, message, file, line, column: column ?? 1, suggestion }],
  );
}
