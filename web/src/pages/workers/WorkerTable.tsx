// The processes that work, or did within a day: who they are and when they were last heard of.

import type { ReactNode } from "react";

import type { WorkerRow } from "../../api/types";
import { Grid, type Column } from "../../parts/Grid";
import { Mark } from "../../parts/Mark";
import { Ago } from "../../parts/Time";
import { useNarrow } from "../../parts/useNarrow";
import { SlotBar } from "./SlotBar";
import { workerLook } from "./standing";

const ROW_PIXELS = 40;
const CARD_PIXELS = 104;
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

const CARD: readonly Column<WorkerRow>[] = [
  {
    id: "card",
    name: "Worker",
    width: "minmax(0, 1fr)",
    cell: (row) => (
      <span className="workers-card">
        <span className="workers-card-line">
          <Mark look={workerLook(row)} />
          <span className="soft">
            heartbeat <Ago at={row.seen_at} />
          </span>
        </span>
        <span className="workers-cut" title={row.host}>
          <strong>{row.host}</strong>, process {row.process}, {KINDS[row.kind]}
        </span>
        <span className="workers-cut">
          <span className="soft">pools</span> <Pools pools={row.pools} />
        </span>
        <span className="workers-card-line">
          <span className="soft">slots</span> <SlotBar busy={row.busy} slots={row.slots} />
        </span>
      </span>
    ),
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
  const isNarrow = useNarrow();
  const rowHeight = isNarrow ? CARD_PIXELS : ROW_PIXELS;
  const inSight = Math.min(Math.max(workers.length, 1), ROWS_IN_SIGHT_MAX);
  return (
    <div className="sheet sheet-flush workers-table">
      <Grid
        label="Workers"
        columns={isNarrow ? CARD : COLUMNS}
        rows={workers}
        rowKey={(row) => row.worker}
        rowHeight={rowHeight}
        height={`${HEAD_PIXELS + inSight * rowHeight}px`}
        minWidth={isNarrow ? "0" : "1090px"}
        empty={<p className="workers-more soft">{empty}</p>}
      />
    </div>
  );
}
