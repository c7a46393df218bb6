// The pools: how many slots they have, and what waits in them. On a narrow screen each is a card; the
// roles keep it a table for those who hear it.

import type { ReactNode } from "react";

import type { PoolRow } from "../../api/types";
import { Mark } from "../../parts/Mark";
import { Ago, Countdown } from "../../parts/Time";
import { SlotBar } from "./SlotBar";
import { byUrgency, poolLook } from "./standing";

// Those that need a person come first.
const POOLS_SHOWN_MAX = 200;

interface PoolTableProps {
  pools: readonly PoolRow[];
  chosen: string | null;
  onChoose: (pool: string | null) => void;
}

export function PoolTable({ pools, chosen, onChoose }: PoolTableProps): ReactNode {
  const more = pools.length - POOLS_SHOWN_MAX;
  return (
    <div className="sheet sheet-flush workers-pools-sheet">
      <table className="plain-table workers-pools" role="table" aria-label="Pools">
        <thead>
          <tr>
            <th scope="col">Pool</th>
            <th scope="col">State</th>
            <th scope="col">Workers</th>
            <th scope="col">Slots in use</th>
            <th scope="col">Ready</th>
            <th scope="col">Waiting</th>
            <th scope="col">Leased</th>
            <th scope="col">Leases that ran out</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {byUrgency(pools)
            .slice(0, POOLS_SHOWN_MAX)
            .map((pool) => (
              <Pool
                key={pool.pool}
                pool={pool}
                isChosen={pool.pool === chosen}
                onChoose={() => onChoose(pool.pool === chosen ? null : pool.pool)}
              />
            ))}
        </tbody>
      </table>
      {more > 0 && <p className="workers-more soft">And {more.toLocaleString("en")} more pools.</p>}
    </div>
  );
}

interface PoolProps {
  pool: PoolRow;
  isChosen: boolean;
  onChoose: () => void;
}

function Pool({ pool, isChosen, onChoose }: PoolProps): ReactNode {
  return (
    <tr role="row" className={isChosen ? "is-chosen" : undefined}>
      <th scope="row" role="rowheader">
        <button
          type="button"
          className="plain"
          aria-pressed={isChosen}
          title="Show only the workers of this pool"
          onClick={onChoose}
        >
          {pool.pool}
        </button>
      </th>
      <td role="cell" data-name="State">
        <Mark look={poolLook(pool)} />
      </td>
      <td role="cell" data-name="Workers">
        {pool.workers.toLocaleString("en")}
      </td>
      <td role="cell" data-name="Slots in use">
        <SlotBar busy={pool.busy} slots={pool.slots} />
      </td>
      <td role="cell" data-name="Ready">
        <Count number={pool.ready} />
        {pool.oldest_ready_at !== null && (
          <span className="soft">
            oldest <Ago at={pool.oldest_ready_at} />
          </span>
        )}
      </td>
      <td role="cell" data-name="Waiting">
        <Count number={pool.waiting} />
        {pool.next_due_at !== null && (
          <span className="soft">
            next in <Countdown until={pool.next_due_at} />
          </span>
        )}
      </td>
      <td role="cell" data-name="Leased">
        <Count number={pool.leased} />
      </td>
      <td role="cell" data-name="Leases that ran out">
        <Count number={pool.expired} isTrouble={pool.expired > 0} />
      </td>
    </tr>
  );
}

function Count({ number, isTrouble = false }: { number: number; isTrouble?: boolean }): ReactNode {
  const tone = number === 0 ? "soft" : isTrouble ? "is-trouble" : "is-some";
  return <span className={`workers-count ${tone}`}>{number.toLocaleString("en")}</span>;
}
