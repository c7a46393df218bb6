// Who works on the runs, and how much waits in each pool. Which pool is looked at is in the address.

import type { ReactNode } from "react";

import type { WorkersShown } from "../../api/types";
import { Failure, Loading, Notice } from "../../parts/Notice";
import { At } from "../../parts/Time";
import { useWords } from "../../router";
import { counted } from "../../words/time";
import { Deserted } from "./Deserted";
import { PoolTable } from "./PoolTable";
import { byLife, worksFor } from "./standing";
import { WorkerTable } from "./WorkerTable";
import { useWorkforce } from "./workforce";
import "./workers.css";

export default function WorkersPage(): ReactNode {
  const found = useWorkforce();
  return (
    <>
      <div className="page-head">
        <h1>Workers</h1>
        {found.data && <Summary shown={found.data} />}
      </div>
      {found.isPending && <Loading what="workers" />}
      {found.error && !found.data && <Failure error={found.error} />}
      {found.error && found.data && (
        <Notice tone="late">
          As of <At at={found.data.now} />. {found.error.message}
        </Notice>
      )}
      {found.data && <Workforce shown={found.data} />}
    </>
  );
}

function Summary({ shown }: { shown: WorkersShown }): ReactNode {
  const alive = shown.workers.filter((one) => one.is_alive);
  const sum = (numbers: number[]): number => numbers.reduce((one, other) => one + other, 0);
  const busy = sum(alive.map((one) => one.busy)).toLocaleString("en");
  const slots = counted(sum(alive.map((one) => one.slots)), "slot");
  const ready = counted(sum(shown.pools.map((one) => one.ready)), "job");
  const versions = new Set(alive.map((one) => one.version)).size;
  return (
    <span className="soft">
      {counted(alive.length, "worker")}, {busy} of {slots} in use, {ready} ready
      {versions > 1 && `, ${versions} versions of Anew`}
    </span>
  );
}

function Workforce({ shown }: { shown: WorkersShown }): ReactNode {
  const [words, change] = useWords();
  const pool = words.get("pool");
  const workers = byLife(shown.workers).filter((one) => pool === null || worksFor(one, pool));
  const choose = (name: string | null): void => change({ pool: name });
  return (
    <>
      <Deserted pools={shown.pools} />
      <h2>Pools</h2>
      {shown.pools.length > 0 ? (
        <PoolTable pools={shown.pools} chosen={pool} onChoose={choose} />
      ) : (
        <p className="sheet soft">No job is open, and nobody is there to take one.</p>
      )}
      <div className="page-head">
        <h2>{pool === null ? "Workers" : `Workers of pool ${pool}`}</h2>
        <span className="soft small">
          {pool === null ? (
            "Seen within a day. One that stops cleanly is not listed any more."
          ) : (
            <button type="button" className="plain" onClick={() => choose(null)}>
              Show all
            </button>
          )}
        </span>
      </div>
      <WorkerTable
        workers={workers}
        empty={
          pool === null
            ? "Nobody works. `anew serve` and `anew worker` do."
            : "Nobody works for this pool."
        }
      />
    </>
  );
}
