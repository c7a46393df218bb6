// Each event in one line, made from its data.

import type { EventRow, JsonObject } from "../../../api/types";
import { counted, duration, moment, secondsBetween } from "../../../words/time";
import { errorText, joined, line, list, names, number, object } from "./told";

type Tell = (data: JsonObject, row: EventRow) => string;

export function summaryOf(row: EventRow): string {
  return SUMMARIES[row.name]?.(row.data, row) ?? unknown(row.data);
}

/** Of an event that this page does not know: what it has. */
function unknown(data: JsonObject): string {
  return Object.keys(data).length === 0 ? "" : line(data);
}

const SUMMARIES: { [name: string]: Tell } = {
  "run.requested": ({ program, continues }) =>
    joined([`program ${line(program)}`, continues ? `takes over from run ${line(continues)}` : ""]),
  "run.started": ({ entry }) => `begins at ${line(entry)}`,
  "run.paused": ({ reason, shared_with: other }) =>
    joined([line(reason), other ? `what came before is that of run ${line(other)}` : ""]),
  "run.resumed": () => "goes on",
  "run.done": ({ result }) =>
    result === null || result === undefined ? "" : `result ${line(result)}`,
  "run.failed": ({ error, unsatisfied }) =>
    joined([errorText(error), prefixed("gates not satisfied: ", names(list(unsatisfied)))]),
  "run.cancelled": ({ reason }) => line(reason),

  "step.scheduled": ({ args, tokens }) =>
    joined([
      list(tokens).length > 1 ? `${counted(list(tokens).length, "token")} merged` : "",
      prefixed("args ", names(Object.keys(object(args)))),
    ]),
  "step.started": () => "a worker took it",
  "step.done": ({ verdict }) => line(verdict),
  "step.failed": ({ error, handled }) =>
    joined([errorText(error), handled ? "an arc handles it" : "nothing handles it"]),
  "step.refused": () => "its gate never opened",
  "step.skipped": ({ reason }) => line(reason),
  "step.redelivered": ({ delivery }) =>
    number(delivery) === 1
      ? "handed out again, which costs no attempt"
      : "its worker was lost; handed out again, which costs no attempt",

  "task.started": ({ inputs, warnings }, { attempt }) =>
    joined([
      `attempt ${attempt ?? 1}`,
      prefixed("warning: ", names(list(warnings))),
      called(object(inputs)),
    ]),
  "task.processed": (data, { attempt }) => processed(data, attempt),
  "task.retry_scheduled": (data, { attempt }) => retry(data, attempt ?? 1),
  "task.retry_exhausted": ({ reason, attempts, directive, error }, { attempt }) =>
    joined([
      reason === "attempts"
        ? `${attempt ?? "?"} of ${line(attempts)} attempts made`
        : `no retry: ${line(reason)} is spent`,
      line(directive),
      errorText(error),
    ]),

  "loop.started": ({ items, mode, max_in_flight: width }) =>
    joined([
      counted(list(items).length, "item"),
      line(mode),
      mode === "parallel" && number(width) !== null ? `${line(width)} at a time` : "",
    ]),
  "loop.iteration.done": () => "",
  "loop.iteration.failed": ({ error }) => errorText(error),
  "loop.done": ({ total, done, failed }) =>
    joined([
      `${line(done)} of ${line(total)} done`,
      number(failed) ? `${line(failed)} failed` : "",
    ]),

  "next.evaluated": ({ event, tokens, arcs, reason, error }) =>
    joined([
      `after ${line(event)}`,
      ways(
        list(tokens).map((token) => object(token)["to"] ?? null),
        list(arcs).length,
      ),
      line(reason).replaceAll("_", " "),
      errorText(error),
    ]),
  "gate.checked": ({ allow, unsatisfied, to, error }) =>
    joined([
      allow ? "lets in" : "does not let in",
      prefixed("not satisfied: ", names(list(unsatisfied))),
      prefixed("back to ", line(to)),
      errorText(error),
    ]),
  "branch.forked": ({ branches, tokens, join, width }) =>
    joined([
      list(branches).length > 0
        ? names(list(branches).map((branch) => object(branch)["name"] ?? null))
        : counted(list(tokens).length, "token"),
      prefixed("join at ", line(join)),
      number(width) === null ? "" : `${line(width)} at a time`,
    ]),
  "branch.joined": ({ tokens, policy, verdict, cancelled, error }) =>
    joined([
      line(policy) || counted(list(tokens).length, "token"),
      line(verdict),
      list(cancelled).length > 0 ? `${names(list(cancelled))} cancelled` : "",
      errorText(error),
    ]),

  "human.waiting": ({ question, choices, deadline }, { at }) =>
    joined([line(question), names(list(choices)), within(at, deadline)]),
  "human.answered": ({ answer, label, by }) =>
    joined([line(label) || line(answer), prefixed("by ", line(by))]),
  "human.timed_out": ({ action, label }) => joined(["nobody answered", line(action), line(label)]),
  "signal.waiting": ({ signal, deadline }, { at }) => joined([line(signal), within(at, deadline)]),
  "signal.received": ({ signal, by, kept }, { step }) =>
    joined([
      line(signal),
      prefixed("by ", line(by)),
      kept ? `it came with event ${line(kept)}` : "",
      step === null && !kept ? "nobody waits for it yet: kept" : "",
    ]),
  "signal.timed_out": ({ signal }) => `${line(signal)} did not come in time`,
  "wait.skipped": ({ waited_for: what, not_before: due, by }, { at }) =>
    joined([
      `the ${line(what)} goes on now`,
      typeof due === "string" ? `${duration(secondsBetween(at, due))} early` : "",
      prefixed("by ", line(by)),
    ]),
};

/** With a word before it; nothing where there is nothing. */
function prefixed(word: string, text: string): string {
  return text === "" ? "" : word + text;
}

function within(at: string, deadline: unknown): string {
  return typeof deadline === "string" ? `within ${duration(secondsBetween(at, deadline))}` : "";
}

/** What a task calls, where its inputs say so in few words. */
function called({ method, url, command, question, signal }: JsonObject): string {
  if (typeof url === "string") return joined([line(method), line(url)], " ");
  return line(command) || line(question) || line(signal);
}

function processed(data: JsonObject, attempt: number | null): string {
  const outcome = object(data["outcome"]);
  const status = number(object(object(outcome["helpers"])["http"])["status"]);
  const isError = outcome["status"] === "error";
  return joined([
    `attempt ${attempt ?? 1} ${isError ? "failed" : "ok"}`,
    status === null ? "" : `HTTP ${status}`,
    errorText(data["error"] ?? outcome["error"]),
    joined(
      [
        prefixed("rule ", line(data["rule"])),
        line(data["directive"]),
        prefixed("to ", line(data["to"])),
      ],
      " ",
    ),
    isError ? "" : prefixed("result ", line(outcome["result"])),
  ]);
}

function retry(data: JsonObject, attempt: number): string {
  const { attempts, delay_seconds: delay, not_before: due, retry_after_seconds: asked, to } = data;
  return joined([
    `attempt ${attempt + 1} of ${line(attempts)} in ${duration(number(delay) ?? 0)}`,
    typeof due === "string" ? `due ${moment(due)}` : "",
    number(asked) ? `Retry-After ${duration(number(asked) ?? 0)}` : "",
    prefixed("by way of ", line(to)),
    line(data["last_error"]),
  ]);
}

function ways(targets: Parameters<typeof names>[0], arcs: number): string {
  if (targets.length > 0) return `goes to ${names(targets)}`;
  return arcs > 0 ? `none of ${counted(arcs, "arc")} holds` : "no way on";
}
