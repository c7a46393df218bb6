// How a pool and a worker stand, in a word, and which of them need a person.

import type { PoolRow, WorkerRow } from "../../api/types";
import type { Look } from "../../words/states";

/** Jobs are due, or will be, and nobody is there to take them. */
export function isDeserted(pool: PoolRow): boolean {
  return pool.slots === 0 && pool.ready + pool.waiting + pool.leased > 0;
}

export function isStuck(pool: PoolRow): boolean {
  return pool.slots === 0 && pool.ready + pool.expired > 0;
}

export function poolLook(pool: PoolRow): Look {
  if (isStuck(pool)) return { word: "nobody works", tone: "bad", shape: "cross" };
  if (isDeserted(pool)) return { word: "nobody there", tone: "late", shape: "slash" };
  if (pool.expired > 0) return { word: "leases ran out", tone: "late", shape: "again" };
  if (pool.ready > 0 && pool.busy >= pool.slots) {
    return { word: "full", tone: "late", shape: "bars" };
  }
  if (pool.busy > 0) return { word: "busy", tone: "busy", shape: "play" };
  return { word: "idle", tone: "calm", shape: "dots" };
}

export function workerLook(worker: WorkerRow): Look {
  if (!worker.is_alive) return { word: "gone", tone: "bad", shape: "skull" };
  if (worker.busy > 0) return { word: "busy", tone: "busy", shape: "play" };
  return { word: "idle", tone: "calm", shape: "dots" };
}

/** Without pools of its own a worker takes jobs of all of them. */
export function worksFor(worker: WorkerRow, pool: string): boolean {
  return worker.pools.length === 0 || worker.pools.includes(pool);
}

const URGENCY = ["bad", "late"];

function urgency(pool: PoolRow): number {
  const at = URGENCY.indexOf(poolLook(pool).tone);
  return at < 0 ? URGENCY.length : at;
}

/** What needs a person first, else by name as the server has them. */
export function byUrgency(pools: readonly PoolRow[]): readonly PoolRow[] {
  return pools.toSorted((one, other) => urgency(one) - urgency(other));
}

/** Those that are there first, whoever was seen last at the top. */
export function byLife(workers: readonly WorkerRow[]): readonly WorkerRow[] {
  const order = (one: WorkerRow): number => (one.is_alive ? 0 : 1);
  return workers.toSorted(
    (one, other) =>
      order(one) - order(other) ||
      (one.is_alive
        ? one.host.localeCompare(other.host) || one.process - other.process
        : Date.parse(other.seen_at) - Date.parse(one.seen_at)),
  );
}
