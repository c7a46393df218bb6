// The events that are wanted, one line each. It stays at its end while the run goes on.

import { useRef, useState, type ReactNode } from "react";

import type { EventRow } from "../../../api/types";
import { Grid, type Column } from "../../../parts/Grid";
import { At } from "../../../parts/Time";
import { useNarrow } from "../../../parts/useNarrow";
import { familyOf, toneOf } from "./families";
import { FamilyIcon } from "./FamilyIcon";
import { placeOf } from "./wanted";

interface EventTableProps {
  rows: readonly EventRow[];
  open: number | null;
  /** The run is shown as of this event. */
  at: number | null;
  onOpen: (row: EventRow) => void;
  onAt: (seq: number) => void;
}

const ROW = 32;
const NARROW_ROW = 62;

export function EventTable(props: EventTableProps): ReactNode {
  const { rows, open } = props;
  const isNarrow = useNarrow();
  const [isAtEnd, setAtEnd] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const reveals = open ?? props.at;
  const toEnd = (): void => {
    const table = box.current?.querySelector("[role=table]");
    if (table) table.scrollTop = table.scrollHeight;
  };
  const rowHeight = isNarrow ? NARROW_ROW : ROW;
  return (
    <div className="sheet sheet-flush events-table" ref={box}>
      <Grid
        label="Events"
        columns={isNarrow ? narrowColumns(props) : columns(props)}
        rows={rows}
        rowKey={(row) => String(row.seq)}
        rowHeight={rowHeight}
        height={`min(${40 + Math.max(rows.length, 3) * rowHeight}px, 68vh)`}
        minWidth={isNarrow ? "0" : "640px"}
        selected={open === null ? null : String(open)}
        followsEnd
        reveals={reveals === null ? null : String(reveals)}
        onOpen={props.onOpen}
        onRange={(_, last) => setAtEnd(last >= rows.length - 1)}
        empty={
          <p className="soft events-empty">
            No event is like this. Choose other families or another step, or clear the search.
          </p>
        }
      />
      {!isAtEnd && rows.length > 0 && (
        <button type="button" className="events-newest" onClick={toEnd}>
          To the newest
        </button>
      )}
    </div>
  );
}

function columns(props: EventTableProps): Column<EventRow>[] {
  return [
    { id: "seq", name: "No.", width: "56px", cell: (row) => <Seq {...props} row={row} /> },
    {
      id: "at",
      name: "Time",
      width: "104px",
      cell: (row) => <Dim {...props} row={row} of={<Exact at={row.at} />} />,
    },
    { id: "name", name: "Event", width: "172px", cell: (row) => <Name row={row} /> },
    {
      id: "place",
      name: "Place",
      width: "minmax(110px, 0.5fr)",
      cell: (row) => <span title={placeOf(row)}>{placeOf(row)}</span>,
    },
    {
      id: "summary",
      name: "What happened",
      width: "minmax(180px, 2fr)",
      cell: (row) => <Summary {...props} row={row} />,
    },
  ];
}

/** One column: what a phone has room for. */
function narrowColumns(props: EventTableProps): Column<EventRow>[] {
  const cell = (row: EventRow): ReactNode => (
    <span className="events-card">
      <span className="events-card-line">
        <Seq {...props} row={row} /> <Name row={row} /> <span className="soft">{placeOf(row)}</span>
      </span>
      <span className="events-card-line small">
        <span className="soft">
          <At at={row.at} />
        </span>{" "}
        <Summary {...props} row={row} />
      </span>
    </span>
  );
  return [{ id: "event", name: "Events", width: "minmax(0, 1fr)", cell }];
}

type OfRow = Pick<EventTableProps, "at" | "onAt"> & { row: EventRow };

function Seq({ row, at, onAt }: OfRow): ReactNode {
  const isAt = row.seq === at;
  return (
    <button
      type="button"
      className={isAt ? "events-seq events-at" : "events-seq"}
      // The table is one stop of the Tab key; an open event has a button that does the same.
      tabIndex={-1}
      aria-label={`Show the run as of event ${row.seq}`}
      aria-pressed={isAt}
      title={`Show the run as of event ${row.seq}`}
      onClick={() => onAt(row.seq)}
    >
      {row.seq}
    </button>
  );
}

/** What has not happened yet, as of the moment that is looked at, is shown faintly. */
function Dim({ row, at, of }: OfRow & { of: ReactNode }): ReactNode {
  return <span className={at !== null && row.seq > at ? "soft" : undefined}>{of}</span>;
}

/** Events of one second are told apart by their milliseconds. */
function Exact({ at }: { at: string }): ReactNode {
  return (
    <span className="events-time">
      <At at={at} />
      <span className="soft">{at.slice(19, 23)}</span>
    </span>
  );
}

function Name({ row }: { row: EventRow }): ReactNode {
  return (
    <span className={`events-name events-${toneOf(row)}`} title={row.name}>
      <FamilyIcon family={familyOf(row.name)} />
      {row.name}
    </span>
  );
}

function Summary(props: OfRow): ReactNode {
  const { text } = props.row;
  return <Dim {...props} of={<span title={text}>{text}</span>} />;
}
