// What the run does, waits for or came to, in one sentence that counts down by itself.

import type { ReactNode, Ref } from "react";

import type { RunPicture, VerdictShown } from "../../api/types";
import { Link } from "../../router";
import { STATES } from "../../words/states";
import { moment } from "../../words/time";
import { Due, Elapsed } from "./Elapsed";
import { Meaning } from "./Meaning";
import type { Show } from "./shown";

interface VerdictProps {
  ref: Ref<HTMLElement>;
  picture: RunPicture;
  isPast: boolean;
  show: Show;
  children: ReactNode;
}

export function Verdict({ ref, picture, isPast, show, children }: VerdictProps): ReactNode {
  const { waits, state } = picture;
  const verdict = worded(picture);
  const now = isPast ? picture.now : null;
  const lines = new Set(waits.map((wait) => wait.rule?.line ?? null));
  const pointTo = (line: number): void => show({ tab: "source", line });
  return (
    <section
      ref={ref}
      tabIndex={-1}
      className={`sheet run-verdict run-tone-${STATES[state].tone}`}
      aria-label="Verdict"
    >
      {/* Read to whoever hears the page, without a word for each second. */}
      <p className="visually-hidden" role="status">
        {STATES[state].word}: {heard(verdict)}
      </p>
      <p className="run-sentence">
        <Sentence verdict={verdict} now={now} lines={lines} pointTo={pointTo} />
      </p>
      <Meaning state={state} />
      {/* Several waits are listed below, each with its own time. */}
      {verdict.details.length > 0 && waits.length < 2 && (
        <ul className="run-details small soft">
          {verdict.details.map((detail, number) => (
            <li key={number}>{withCode(detail)}</li>
          ))}
        </ul>
      )}
      {children}
    </section>
  );
}

/** A run that is dead has failed too; which of both it is comes first. */
function worded({ verdict, state }: RunPicture): VerdictShown {
  if (state !== "dead") return verdict;
  const { headline } = verdict;
  return {
    ...verdict,
    headline: `Given up: ${headline.charAt(0).toLowerCase()}${headline.slice(1)}`,
  };
}

/** With the hour in place of a time that counts. */
function heard({ headline, since, until }: VerdictShown): string {
  if (until !== null) return `${headline} at ${moment(until)}`;
  return since === null ? headline : `${headline} since ${moment(since)}`;
}

interface SentenceProps {
  verdict: Pick<VerdictShown, "headline" | "reason" | "since" | "until">;
  now: string | null;
  lines: ReadonlySet<number | null>;
  pointTo: (line: number) => void;
}

/** The words of a verdict with its time; a line of the document that decided can be opened. */
export function Sentence({ verdict, now, lines, pointTo }: SentenceProps): ReactNode {
  const { headline, reason, since, until } = verdict;
  return (
    <>
      <strong>
        {withRuns(headline)}
        {until !== null && <Due until={until} now={now} />}
        {until === null && since !== null && (
          <>
            {" for "}
            <Elapsed since={since} now={now} />
          </>
        )}
      </strong>
      {reason && ": "}
      {withLines(reason, lines, pointTo)}
    </>
  );
}

/** `line 12` becomes a way there, where it is the line of a rule and not a word of an error. */
function withLines(
  text: string,
  lines: ReadonlySet<number | null>,
  pointTo: (line: number) => void,
): ReactNode[] {
  return text.split(/\b(line \d+)\b/).map((part, index) => {
    const line = index % 2 ? Number(part.slice(5)) : null;
    if (line === null || !lines.has(line)) return part;
    return (
      <button key={index} type="button" className="plain" onClick={() => pointTo(line)}>
        {part}
      </button>
    );
  });
}

/** The child run that is waited for can be looked at. */
function withRuns(text: string): ReactNode[] {
  return text.split(/\b(?<=child run )(\d+)\b/).map((part, index) =>
    index % 2 ? (
      <Link key={index} to={`/runs/${part}`}>
        {part}
      </Link>
    ) : (
      part
    ),
  );
}

/** What stands between backticks is a command to type. */
function withCode(text: string): ReactNode[] {
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}
