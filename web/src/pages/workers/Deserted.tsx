// Work that waits with nobody to do it, and the command that helps.

import type { ReactNode } from "react";

import type { PoolRow } from "../../api/types";
import { CopyButton, cliText } from "../../parts/Commands";
import { Notice } from "../../parts/Notice";
import { Ago } from "../../parts/Time";
import { counted } from "../../words/time";
import { isStuck } from "./standing";

const NOTICES_MAX = 5;

export function Deserted({ pools }: { pools: readonly PoolRow[] }): ReactNode {
  return pools
    .filter(isStuck)
    .slice(0, NOTICES_MAX)
    .map((pool) => (
      <Notice key={pool.pool} tone="bad">
        <div className="workers-deserted">
          <p>
            <strong>Nobody works on pool {pool.pool}.</strong>{" "}
            {counted(pool.ready + pool.expired, "job waits", "jobs wait")}
            {pool.oldest_ready_at !== null && (
              <>
                , the oldest was due <Ago at={pool.oldest_ready_at} />
              </>
            )}
            . Start a worker:
          </p>
          <StartCommand pool={pool.pool} />
        </div>
      </Notice>
    ));
}

function StartCommand({ pool }: { pool: string }): ReactNode {
  const cli = ["worker", "--pool", pool];
  const text = cliText({ cli, method: "GET", path: "/" }, location.origin);
  return (
    <div className="command">
      <pre aria-label="command line">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}
