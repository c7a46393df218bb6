// What is looked for in the log, and the log as a file.

import { useRef, type ReactNode } from "react";

import type { EventRow } from "../../../api/types";
import { counted } from "../../../words/time";
import { useKeys } from "../actions/useKeys";
import type { EventLogState } from "../eventLog";
import { FAMILIES, familyOf } from "./families";
import { FamilyIcon } from "./FamilyIcon";
import { jsonLines } from "./wanted";

interface EventFiltersProps {
  run: string;
  log: EventLogState;
  /** Those of the log that are wanted. */
  rows: readonly EventRow[];
  words: URLSearchParams;
  change: (changes: { [name: string]: string | readonly string[] | null }) => void;
}

export function EventFilters({ run, log, rows, words, change }: EventFiltersProps): ReactNode {
  const search = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => search.current?.focus() });
  const chosen = words.getAll("family");
  const toggle = (family: string): void =>
    change({
      family: chosen.includes(family)
        ? chosen.filter((one) => one !== family)
        : [...chosen, family],
    });
  return (
    <div className="row small events-filters">
      <input
        ref={search}
        type="search"
        aria-label="Search the events"
        aria-keyshortcuts="/"
        title="Search names, places and data ( / )"
        placeholder="Search"
        value={words.get("text") ?? ""}
        onChange={(event) => change({ text: event.target.value || null })}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      <span className="row events-families" role="group" aria-label="Families of events">
        {present(log.rows).map((family) => (
          <button
            key={family}
            type="button"
            className="events-family"
            aria-pressed={chosen.includes(family)}
            onClick={() => toggle(family)}
          >
            <FamilyIcon family={family} />
            {family}
          </button>
        ))}
      </span>
      <span className="soft" role="status">
        {countText(log, rows)}
      </span>
      <button
        type="button"
        className="small"
        title="The events that are listed, one JSON per line"
        disabled={rows.length === 0}
        onClick={() => download(`run-${run}.jsonl`, jsonLines(rows))}
      >
        Download
      </button>
    </div>
  );
}

function present(rows: readonly EventRow[]) {
  const found = new Set(rows.map((row) => familyOf(row.name)));
  return FAMILIES.filter((family) => found.has(family));
}

function countText(log: EventLogState, rows: readonly EventRow[]): string {
  const all = counted(log.rows.length, "event");
  const some =
    rows.length === log.rows.length ? all : `${rows.length.toLocaleString("en")} of ${all}`;
  const first = log.rows[0];
  return log.isWhole || first === undefined ? some : `${some}, from event ${first.seq} on`;
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
