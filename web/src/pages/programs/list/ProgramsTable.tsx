// The programs, one row each. Only rows in sight ask how many runs they have.

import type { ReactNode } from "react";

import type { ProgramRow } from "../../../api/types";
import { Grid, type Column } from "../../../parts/Grid";
import { Ago } from "../../../parts/Time";
import { go, Link } from "../../../router";
import { useNarrow } from "../../../parts/useNarrow";
import { programAddress } from "../queries";
import { lastPart } from "../source";
import { RunCounts } from "./RunCounts";

const WIDE: readonly Column<ProgramRow>[] = [
  { id: "name", name: "Program", width: "minmax(140px, 1fr)", cell: nameCell },
  {
    id: "version",
    name: "Version",
    width: "70px",
    isNumber: true,
    cell: (row) => String(row.version),
  },
  {
    id: "file",
    name: "File",
    width: "minmax(90px, 0.7fr)",
    cell: (row) => <code title={row.file}>{lastPart(row.file)}</code>,
  },
  { id: "at", name: "Registered", width: "110px", cell: (row) => <Ago at={row.registered_at} /> },
  {
    id: "runs",
    name: "Runs",
    width: "minmax(260px, 2fr)",
    cell: (row) => <RunCounts program={row.name} most={4} />,
  },
];

const NARROW: readonly Column<ProgramRow>[] = [
  {
    id: "name",
    name: "Program and its runs",
    width: "minmax(0, 1fr)",
    cell: (row) => (
      <span className="programs-card">
        <span className="programs-card-name">
          {nameCell(row)}{" "}
          <span className="soft small">
            version {row.version}, <Ago at={row.registered_at} />
          </span>
        </span>
        <RunCounts program={row.name} most={2} />
      </span>
    ),
  },
];

function nameCell(row: ProgramRow): ReactNode {
  return (
    <Link to={programAddress(row.name)} className="programs-name">
      <span title={row.name}>{row.name}</span>
    </Link>
  );
}

interface ProgramsTableProps {
  programs: readonly ProgramRow[];
  empty: ReactNode;
}

export function ProgramsTable({ programs, empty }: ProgramsTableProps): ReactNode {
  const isNarrow = useNarrow();
  const rowHeight = isNarrow ? 68 : 42;
  const whole = 36 + rowHeight * Math.max(programs.length, 4);
  return (
    <div className="sheet sheet-flush">
      <Grid
        label="Programs"
        columns={isNarrow ? NARROW : WIDE}
        rows={programs}
        rowKey={(row) => row.name}
        rowHeight={rowHeight}
        height={`min(${whole}px, calc(100vh - 200px))`}
        onOpen={(row) => go(programAddress(row.name))}
        empty={<div className="programs-empty">{empty}</div>}
      />
    </div>
  );
}
