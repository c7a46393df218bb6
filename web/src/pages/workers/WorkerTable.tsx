// The processes that work, or did within a day: who they are and when they were last heard of.

import type { ReactNode } from "react";

import type { WorkerRow } from "../../api/types";
import { Grid, type Column } from "../../parts/Grid";
import { Mark } from "../../parts/Mark";
import { Ago } from "../../parts/Time";
import { SlotBar } from "./SlotBar";
import { workerLook } from "./standing";

const ROW_PIXELS = 40;
const HEAD_PIXELS = 36;
const ROWS_IN_SIGHT_MAX = 15;

const KINDS: { [kind in WorkerRow["kind"]]: string } = {
  server: "anew serve",
  worker: "anew worker",
  command: "a command",
};

const COLUMNS: readonly Column<WorkerRow>[] = [
  { id: "state", name: "State", width: "92px", cell: (row) => <Mark look={workerLook(row)} /> },
  { id: "seen", name: "Last heartbeat", width: "112px", cell: (row) => <Ago at={row.seen_at} /> },
  {
    id: "host",
    name: "Host",
    width: "minmax(110px, 1.4fr)",
    cell: (row) => <span title={row.host}>{row.host}</span>,
  },
  { id: "process", name: "Process", width: "76px", cell: (row) => row.process },
  { id: "kind", name: "Kind", width: "100px", cell: (row) => KINDS[row.kind] },
  {
    id: "pools",
    name: "Pools",
    width: "minmax(110px, 1.4fr)",
    cell: (row) => <Pools pools={row.pools} />,
  },
  {
    id: "slots",
    name: "Slots in use",
    width: "150px",
    cell: (row) => <SlotBar busy={row.busy} slots={row.slots} />,
  },
  { id: "leases", name: "Leases", width: "62px", cell: (row) => row.leases },
  { id: "started", name: "Started", width: "84px", cell: (row) => <Ago at={row.started_at} /> },
  {
    id: "version",
    name: "Version",
    width: "minmax(70px, 0.6fr)",
    cell: (row) => <span title={row.version}>{row.version}</span>,
  },
];

function Pools({ pools }: { pools: readonly string[] }): ReactNode {
  if (pools.length === 0) return <span className="soft">all pools</span>;
  const said = pools.join(", ");
  return <span title={said}>{said}</span>;
}

interface WorkerTableProps {
  workers: readonly WorkerRow[];
  empty: ReactNode;
}

export function WorkerTable({ workers, empty }: WorkerTableProps): ReactNode {
  const inSight = Math.min(Math.max(workers.length, 1), ROWS_IN_SIGHT_MAX);
  return (
    <div className="sheet sheet-flush workers-table">
      <Grid
        label="Workers"
        columns={COLUMNS}
        rows={workers}
        rowKey={(row) => row.worker}
        rowHeight={ROW_PIXELS}
        height={`${HEAD_PIXELS + inSight * ROW_PIXELS}px`}
        minWidth="1090px"
        empty={<p className="workers-more soft">{empty}</p>}
      />
    </div>
  );
}
