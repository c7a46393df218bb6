// What a run waits for, is at, or ended with: one line.

import type { ReactNode } from "react";

import type { JsonObject, OpenJob, RunListed } from "../../../api/types";
import { Countdown, useNow } from "../../../parts/Time";

export function Standing({ row }: { row: RunListed }): ReactNode {
  if (row.status === "failed" || row.status === "cancelled") return <Ended error={row.error} />;
  if (row.status === "done") return null;
  const question = row.questions?.[0];
  if (row.state === "person" && question) {
    return (
      <Line
        said={question.question}
        step={question.step}
        until={question.deadline}
        more={more(row.questions)}
      />
    );
  }
  const awaited = row.signals?.[0];
  if (row.state === "signal" && awaited) {
    return (
      <Line
        said={`signal ${awaited.signal}`}
        step={awaited.step}
        until={awaited.deadline}
        more={more(row.signals)}
      />
    );
  }
  return row.open && <Open job={row.open} />;
}

function more(all: readonly unknown[] | undefined): number {
  return (all?.length ?? 1) - 1;
}

interface LineProps {
  said: string;
  step: string;
  until: string | null;
  more: number;
}

function Line({ said, step, until, more }: LineProps): ReactNode {
  return (
    <span className="runs-standing" title={`${step}: ${said}`}>
      <span className="runs-cut">
        {said}
        {more > 0 && ` and ${more} more`}
      </span>
      {until !== null && (
        <span className="soft">
          , <Due at={until} isLeft />
        </span>
      )}
    </span>
  );
}

function Ended({ error }: { error: JsonObject | null }): ReactNode {
  if (error === null) return null;
  const kind = textIn(error, "kind");
  const message = textIn(error, "message");
  return (
    <span title={`${kind}: ${message}`}>
      <code className="runs-error-kind">{kind}</code> {message}
    </span>
  );
}

/** A text of an error, which may be anything a tool has said. */
export function textIn(error: JsonObject, name: string): string {
  const value = error[name];
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Open({ job }: { job: OpenJob }): ReactNode {
  const isTimed = !job.is_leased && job.reason !== "ready";
  return (
    <span className="runs-standing" title={job.step}>
      <span className="runs-cut">
        <strong className="runs-step">{job.step}</strong>
        {(job.attempt > 1 || job.reason === "retry") && `, attempt ${job.attempt}`}
        {words(job)}
      </span>
      {isTimed && job.due_at !== null && (
        <span>
          , <Due at={job.due_at} isLeft={job.reason !== "retry"} />
        </span>
      )}
    </span>
  );
}

/** `in 0:41`, `0:41 left`, `due now`. */
function Due({ at, isLeft }: { at: string; isLeft: boolean }): ReactNode {
  if (Date.parse(at) <= useNow()) return "due now";
  return (
    <>
      {!isLeft && "in "}
      <Countdown until={at} />
      {isLeft && " left"}
    </>
  );
}

function words(job: OpenJob): string {
  if (job.is_leased) return ", running";
  switch (job.reason) {
    case "ready":
      return ", waits for a worker";
    case "retry":
      return "";
    case "sleep":
      return ", sleeps";
    case "child":
      return ", waits for a child run";
    case "held":
      return ", held while the run is paused";
    case "person":
      return ", waits for a person";
    case "signal":
      return ", waits for a signal";
  }
}
