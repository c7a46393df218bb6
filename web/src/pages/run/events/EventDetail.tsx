// One event, whole.

import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";

import type { EventRow } from "../../../api/types";
import { CopyButton } from "../../../parts/Commands";
import { JsonView } from "../../../parts/JsonView";
import { At } from "../../../parts/Time";
import { Link } from "../../../router";
import { familyOf, toneOf } from "./families";
import { FamilyIcon } from "./FamilyIcon";
import { bare, placeOf } from "./wanted";

interface EventDetailProps {
  run: string;
  row: EventRow;
  at: number | null;
  onAt: (seq: number | null) => void;
  onMove: (by: 1 | -1) => void;
  onClose: () => void;
}

export function EventDetail(props: EventDetailProps): ReactNode {
  const { run, row, at, onClose } = props;
  const isAt = at === row.seq;
  const leave = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onClose();
  };
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    box.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <section ref={box} className="sheet stack events-detail" aria-label="Event" onKeyDown={leave}>
      <div className="row">
        <h2 className={`events-name events-${toneOf(row)}`}>
          <FamilyIcon family={familyOf(row.name)} />
          {row.name}
        </h2>
        <button
          type="button"
          className="small events-close"
          title="Close (Escape)"
          aria-keyshortcuts="Escape"
          onClick={onClose}
        >
          Close
        </button>
      </div>
      <p className="small">
        Event {row.seq}, <At at={row.at} />
        {row.step !== null && <> · {placeOf(row)}</>}
        {row.attempt !== null && <> · attempt {row.attempt}</>}
      </p>
      <p className="events-summary">{row.text}</p>
      <div className="row small">
        <button type="button" aria-pressed={isAt} onClick={() => props.onAt(isAt ? null : row.seq)}>
          {isAt ? "Back to now" : "Show the run as of this event"}
        </button>
        <button type="button" onClick={() => props.onMove(-1)}>
          Before
        </button>
        <button type="button" onClick={() => props.onMove(1)}>
          After
        </button>
        {row.name === "task.started" && (
          <Link to={`/runs/${encodeURIComponent(run)}?tab=attempts&attempt=${row.seq}`}>
            The attempt
          </Link>
        )}
        <CopyButton text={JSON.stringify(bare(row), null, 2)} label="Copy JSON" />
      </div>
      <div className="events-raw">
        <JsonView key={row.seq} value={bare(row)} />
      </div>
    </section>
  );
}
