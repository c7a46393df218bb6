// The log of the run: every event in one line, any of them whole, and the run as of any of them.
// What is looked for and what is open is in the address: `family`, `text`, `event`.

import { useDeferredValue, useMemo, type ReactNode } from "react";

import { useWords } from "../../../router";
import type { EventLogState } from "../eventLog";
import { EventDetail } from "./EventDetail";
import { EventFilters } from "./EventFilters";
import { EventTable } from "./EventTable";
import "./events.css";
import { wantedRows } from "./wanted";

interface EventLogProps {
  run: string;
  log: EventLogState;
  step: string | null;
  at: number | null;
}

export function EventLog({ run, log, step, at }: EventLogProps): ReactNode {
  const [words, change] = useWords();
  const rows = useWantedRows(log, words, step);
  const open = whole(words.get("event"));
  const opened = log.rows.find((row) => row.seq === open);
  const show = (seq: number | null): void => change({ event: seq === null ? null : String(seq) });
  return (
    <>
      <EventFilters {...{ run, log, rows, words, change }} />
      <div className={opened === undefined ? "events-split" : "events-split has-event"}>
        <EventTable
          rows={rows}
          open={open}
          at={at}
          onOpen={(row) => show(row.seq)}
          onAt={(seq) => change({ at: String(seq) })}
        />
        {opened !== undefined && (
          <EventDetail
            {...{ run, at }}
            row={opened}
            onAt={(seq) => change({ at: seq === null ? null : String(seq) })}
            onMove={(by) => show(neighbour(rows, opened.seq, by))}
            onClose={() => show(null)}
          />
        )}
      </div>
    </>
  );
}

function useWantedRows(log: EventLogState, words: URLSearchParams, step: string | null) {
  const text = useDeferredValue(words.get("text") ?? "");
  const families = words.getAll("family").join(" ");
  return useMemo(
    () => wantedRows(log.rows, { families: families ? families.split(" ") : [], step, text }),
    [log.rows, families, step, text],
  );
}

function neighbour(rows: readonly { seq: number }[], seq: number, by: 1 | -1): number {
  const at = rows.findIndex((row) => row.seq === seq);
  return rows[at + by]?.seq ?? seq;
}

function whole(word: string | null): number | null {
  return word !== null && /^[1-9]\d{0,14}$/.test(word) ? Number(word) : null;
}
