// One attempt: what it was given, what came back, what the rule made of it, and what it printed; or
// how it differs from another.

import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";

import type { AttemptWhole } from "../../../api/types";
import { CopyButton } from "../../../parts/Commands";
import { Mark } from "../../../parts/Mark";
import { Failure, Loading } from "../../../parts/Notice";
import { At } from "../../../parts/Time";
import { Link } from "../../../router";
import { duration } from "../../../words/time";
import { attemptName, directiveWords, lookOf, outcomeWord } from "./attemptWords";
import { AttemptDiff } from "./AttemptDiff";
import { CompareChoice } from "./CompareChoice";
import { DataFlow } from "./DataFlow";
import { Decision, hasDecision } from "./Decision";
import { Logs } from "./Logs";
import { printedBy } from "./logLines";
import { RuleLink } from "./RuleLink";
import { useAttempt, useKin } from "./useAttempts";

interface AttemptDetailProps {
  run: string;
  seq: number;
  beside: number | null;
  events: number;
  onCompare: (seq: number, beside: number | null) => void;
  onClose: () => void;
}

export function AttemptDetail(props: AttemptDetailProps): ReactNode {
  const { run, seq, beside, events, onClose } = props;
  const found = useAttempt(run, seq, events);
  const other = useAttempt(run, beside, events);
  const kin = useKin(run, found.data, events);
  const box = useRef<HTMLElement>(null);
  const isHere = found.data !== undefined;
  useEffect(() => {
    if (isHere) box.current?.scrollIntoView({ block: "nearest" });
  }, [isHere]);
  const leave = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && !event.defaultPrevented) onClose();
  };
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the attempt" />;
  }
  const attempt = found.data;
  return (
    <section
      ref={box}
      className="sheet stack attempts-detail"
      aria-label="Attempt"
      onKeyDown={leave}
    >
      <div className="row">
        <h2>{attemptName(attempt)}</h2>
        <Mark look={lookOf(attempt)} word={outcomeWord(attempt)} />
        <button
          type="button"
          className="small attempts-close"
          title="Close (Escape)"
          aria-keyshortcuts="Escape"
          onClick={onClose}
        >
          Close
        </button>
      </div>
      <Facts run={run} attempt={attempt} />
      <CompareChoice {...{ kin, seq, beside }} onCompare={props.onCompare} />
      {beside === null && <Whole run={run} attempt={attempt} />}
      {beside !== null && other.error !== null && <Failure error={other.error} />}
      {beside !== null && other.data !== undefined && (
        <AttemptDiff {...inOrder(attempt, other.data)} />
      )}
    </section>
  );
}

/** Differences are told from the earlier to the later, whichever was chosen first. */
function inOrder(one: AttemptWhole, other: AttemptWhole) {
  return one.seq < other.seq ? { before: one, after: other } : { before: other, after: one };
}

function Whole({ run, attempt }: { run: string; attempt: AttemptWhole }): ReactNode {
  return (
    <>
      <DataFlow run={run} attempt={attempt} />
      <Logs logs={printedBy(attempt)} />
    </>
  );
}

function Facts({ run, attempt }: { run: string; attempt: AttemptWhole }): ReactNode {
  const { idempotency_key: key, ended_at: ended, seconds } = attempt;
  const events = [
    ["started", attempt.seq],
    ["ended", attempt.ended_seq],
    ["decided", attempt.decided_seq],
  ] as const;
  return (
    <dl className="facts small">
      <dt>Time</dt>
      <dd>
        <At at={attempt.started_at} />
        {ended !== null && (
          <>
            {" – "}
            <At at={ended} />
          </>
        )}
        {seconds !== null && `, took ${duration(seconds)}`}
      </dd>
      <dt>Decided</dt>
      <dd>
        {attempt.directive === null ? (
          <span className="soft">nothing yet</span>
        ) : (
          <>
            {directiveWords(attempt)},{" "}
            <RuleLink run={run} rule={attempt.rule} unmet={attempt.unmet} />
          </>
        )}
        {hasDecision(attempt) && (
          <>
            {" · "}
            <Decision attempt={attempt} />
          </>
        )}
      </dd>
      {key !== null && (
        <>
          <dt title="The same for every attempt of this task visit">Idempotency key</dt>
          <dd>
            <code>{key}</code> <CopyButton text={key} label="Copy key" />
          </dd>
        </>
      )}
      <dt>Events</dt>
      <dd className="row">
        {events.map(
          ([word, seq]) =>
            seq !== null && (
              <Link key={word} to={`/runs/${encodeURIComponent(run)}?tab=events&event=${seq}`}>
                {word}: {seq}
              </Link>
            ),
        )}
      </dd>
    </dl>
  );
}
