// How a run is shown in a row: in columns, or on a narrow screen as a card.

import type { ReactNode } from "react";

import type { RunListed } from "../../../api/types";
import type { Column } from "../../../parts/Grid";
import { StateMark } from "../../../parts/Mark";
import { Ago, useNow } from "../../../parts/Time";
import { Link } from "../../../router";
import { duration } from "../../../words/time";
import { Standing } from "./Standing";

export type RunColumn = Column<RunListed | null>;
type Cell = (row: RunListed) => ReactNode;

// A row that has not come yet keeps its place.
export function column(id: string, name: ReactNode, width: string, cell: Cell): RunColumn {
  return {
    id,
    name,
    width,
    cell: (row) => (row === null ? <span className="soft">…</span> : cell(row)),
  };
}

export const COLUMNS: readonly RunColumn[] = [
  column("state", "State", "184px", (row) => <StateMark state={row.state} />),
  column("run", "Run", "168px", (row) => <RunLink row={row} />),
  column("program", "Program", "minmax(110px, 1fr)", (row) => <Program row={row} />),
  column("standing", "Waits for, or ended with", "minmax(230px, 2.6fr)", (row) => (
    <Standing row={row} />
  )),
  column("started", "Started", "74px", (row) => <Ago at={row.created_at} />),
  column("length", "Duration", "80px", (row) => <Length row={row} />),
  column("labels", "Labels", "minmax(90px, 1.2fr)", (row) => <Labels row={row} />),
];

export const CARD: readonly RunColumn[] = [
  column("card", "Run", "minmax(0, 1fr)", (row) => (
    <span className="runs-card">
      <span className="runs-card-line">
        <StateMark state={row.state} />
        <span className="soft">
          <Ago at={row.created_at} />
          {row.ended_at !== null && ", took "}
          {row.ended_at !== null && <Length row={row} />}
        </span>
      </span>
      <span className="runs-card-line">
        <Program row={row} /> <RunLink row={row} />
      </span>
      <span className="runs-card-cut">
        <Standing row={row} />
      </span>
    </span>
  )),
];

function RunLink({ row }: { row: RunListed }): ReactNode {
  return (
    <Link to={`/runs/${row.run}`} className="mono runs-id">
      {row.run}
    </Link>
  );
}

function Program({ row }: { row: RunListed }): ReactNode {
  return (
    <span className="runs-cut" title={row.program}>
      {row.program}
      {row.version !== null && <span className="soft"> v{row.version}</span>}
    </span>
  );
}

/** From start to end; of an open run it grows. */
function Length({ row }: { row: RunListed }): ReactNode {
  return row.ended_at === null ? (
    <Growing from={row.created_at} />
  ) : (
    <>{duration((Date.parse(row.ended_at) - Date.parse(row.created_at)) / 1000)}</>
  );
}

function Growing({ from }: { from: string }): ReactNode {
  const seconds = Math.max(0, Math.floor((useNow() - Date.parse(from)) / 1000));
  return <>{duration(seconds)}</>;
}

function Labels({ row }: { row: RunListed }): ReactNode {
  const labels = Object.entries(row.labels).map(([name, value]) => `${name}=${value}`);
  return (
    <span className="soft small" title={labels.join(", ")}>
      {labels.join(", ")}
    </span>
  );
}
