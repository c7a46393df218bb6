// The report of `anew whatif --json`, as far as the page shows it, and its figures in words.

import type { JsonObject, RunText } from "../../../api/types";
import { counted, duration } from "../../../words/time";

/** A mean and the interval that holds 95 %. */
export interface Estimate {
  mean: number;
  low: number;
  high: number;
}

export interface Moved {
  certain: RunText[];
  supposed: RunText[];
  modelled: Estimate;
  /** Of runs that need the model: the share of plays that end so. */
  maybe: { [run: RunText]: number };
}

export interface RunPlayed {
  run: RunText;
  was: string;
  /** Null: not every play ends the same way. */
  becomes: string | null;
  certain: boolean;
  shares: { done: number; failed: number; unknown: number };
  calls: Estimate;
  waiting: Estimate;
  unknown: string[];
  differs: { place: string; seq: number; was: string | null; becomes: string | null } | null;
}

export interface WhatifReport {
  runs: number;
  done: number;
  failed: number;
  certain: number;
  supposed: number;
  skipped: number;
  rescued: Moved;
  broken: Moved;
  unknown: Estimate;
  calls: {
    before: number;
    extra: Estimate;
    tasks: { step: string; task: string; before: number; extra: Estimate }[];
  };
  waiting: { before: number; extra: Estimate; most: number };
  policies: string[];
  changes: string[];
  left_out: { run: RunText; why: string }[];
  each: RunPlayed[];
}

export function whatifReport(found: JsonObject): WhatifReport {
  return found as unknown as WhatifReport;
}

/** How sure it is: the log alone says so, something in doubt must hold, a model, or nobody knows. */
export type Sureness = "certain" | "doubt" | "model" | "unknown";

export function surenessOf(one: RunPlayed): Sureness {
  if (one.certain) return "certain";
  if (one.shares.unknown >= 1) return "unknown";
  return one.becomes === null ? "model" : "doubt";
}

/** `done`, `failed 94 %, unknown 6 %`. */
export function endText(one: RunPlayed): string {
  if (one.becomes !== null) return one.becomes;
  return Object.entries(one.shares)
    .filter(([, share]) => share > 0)
    .map(([word, share]) => `${word} ${percent(share)}`)
    .join(", ");
}

export function percent(share: number): string {
  return share > 0 && share < 0.005 ? "<1 %" : `${Math.round(share * 100)} %`;
}

function signed(value: number, format: (size: number) => string): string {
  return `${value < 0 ? "−" : "+"}${format(Math.abs(value))}`;
}

function tenth(value: number): string {
  if (value > 0 && value < 0.05) return "<0.1";
  return Number(value.toFixed(1)).toLocaleString("en");
}

/** `as before`, `+4`, `+1.2 s (95 %: +0.7 s to +1.7 s)`. */
export function extraText(extra: Estimate, format: (size: number) => string = tenth): string {
  const { mean, low, high } = extra;
  if (low === 0 && high === 0) return "as before";
  const most = signed(mean, format);
  return low === high ? most : `${most} (95 %: ${signed(low, format)} to ${signed(high, format)})`;
}

export function extraTime(extra: Estimate): string {
  return extraText(extra, duration);
}

/** `2 for certain, 1 if what is in doubt holds, 0.4 more by the model (95 %: 0 to 1)`. */
export function movedText({ certain, supposed, modelled, maybe }: Moved): string {
  const parts = [`${certain.length} for certain`];
  if (supposed.length) parts.push(`${supposed.length} if what is in doubt holds`);
  if (Object.keys(maybe).length || modelled.high > 0) {
    const { mean, low, high } = modelled;
    parts.push(`${tenth(mean)} by the model (95 %: ${tenth(low)} to ${tenth(high)})`);
  }
  return parts.join(", ");
}

/** The whole answer in one sentence. */
export function verdict(report: WhatifReport): string {
  const [one] = report.each;
  if (report.each.length === 1 && one !== undefined) return ofOne(one);
  const { rescued, broken } = report;
  const saved = rescued.certain.length + rescued.supposed.length;
  const lost = broken.certain.length + broken.supposed.length;
  const open = report.runs - report.certain - report.supposed;
  const parts = [
    saved > 0 && `${counted(saved, "failed run")} would have succeeded`,
    lost > 0 && `${counted(lost, "run that was done", "runs that were done")} would have failed`,
    open > 0 && `${counted(open, "run")} cannot be decided for certain`,
  ].filter((part) => part !== false);
  const whole = parts.length ? parts.join("; ") : "every run would have ended as it did";
  return `Of ${counted(report.runs, "run")}: ${whole}.`;
}

function ofOne(one: RunPlayed): string {
  const sure = surenessOf(one);
  if (sure === "unknown")
    return `How the run would have ended is unknown: ${one.unknown.join("; ")}.`;
  if (sure === "model")
    return `The run ${one.was}; by the model it would have ended ${endText(one)}.`;
  const how = sure === "certain" ? "for certain" : "if what is in doubt holds";
  if (one.becomes === one.was) return `The run would have ended as it did (${one.was}), ${how}.`;
  return `The run would have ended ${one.becomes} instead of ${one.was}, ${how}.`;
}
