// Every attempt of the run with the decision about it; the one that is open with its data, or beside
// another. What is open is in the address: `attempt` is the event that started it, `with` the event
// of the one it is compared with.

import { useState, type ReactNode } from "react";

import type { AttemptShown } from "../../../api/types";
import { Failure, Loading } from "../../../parts/Notice";
import { useWords } from "../../../router";
import { AttemptDetail } from "./AttemptDetail";
import { AttemptFilters } from "./AttemptFilters";
import { AttemptTable } from "./AttemptTable";
import "./attempts.css";
import { useAttempts } from "./useAttempts";

interface AttemptsProps {
  run: string;
  step: string | null;
  attempt: number | null;
  events: number;
}

// Of a log this long only the attempts of its end are asked for at first.
const LONG_LOG_EVENTS = 3_000;

export function Attempts({ run, step, attempt, events }: AttemptsProps): ReactNode {
  const [words, change] = useWords();
  const [since, setSince] = useState(() =>
    Math.min(Math.max(0, events - LONG_LOG_EVENTS), (attempt ?? Infinity) - 1),
  );
  const filter = { step, task: words.get("task"), status: words.get("outcome"), since };
  const known = useAttempts(run, filter, events);
  const open = attempt ?? numbered(known.attempts, words);
  const beside = whole(words.get("with"));
  const show = (seq: number | null): void =>
    change({ attempt: text(seq), with: null, visit: null, number: null });
  const compare = (one: number, other: number | null): void =>
    change({ attempt: text(one), with: text(other), visit: null, number: null });
  return (
    <>
      <AttemptFilters {...{ attempts: known.attempts, words, change, since }} onSince={setSince} />
      {known.error !== null && <Failure error={known.error} />}
      {known.isLoading ? (
        <Loading what="the attempts" />
      ) : (
        <AttemptTable
          run={run}
          attempts={known.attempts}
          open={open}
          beside={beside}
          onOpen={show}
          onCompare={(other) => open !== null && compare(open, other)}
          onEnd={known.more}
        />
      )}
      {open !== null && (
        <AttemptDetail
          key={open}
          {...{ run, events, beside }}
          seq={open}
          onCompare={compare}
          onClose={() => show(null)}
        />
      )}
    </>
  );
}

/** The attempt that a picture names by its visit and its number, which know no event. */
function numbered(attempts: readonly AttemptShown[], words: URLSearchParams): number | null {
  const [visit, number] = [whole(words.get("visit")), whole(words.get("number"))];
  const step = words.get("step");
  const found = attempts.find(
    (one) => one.step === step && one.visit === visit && one.attempt === number,
  );
  return found?.seq ?? null;
}

function whole(word: string | null): number | null {
  return word !== null && /^[1-9]\d{0,14}$/.test(word) ? Number(word) : null;
}

function text(seq: number | null): string | null {
  return seq === null ? null : String(seq);
}
