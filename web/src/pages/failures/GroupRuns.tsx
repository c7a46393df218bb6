// The runs of one problem, and retrying one of them, some or all.

import { useState, type ReactNode } from "react";

import type { FailureGroup } from "../../api/types";
import { Failure } from "../../parts/Notice";
import { Link } from "../../router";
import type { Meant } from "../runs/bulk/bulk";
import { BulkBar } from "../runs/bulk/BulkBar";
import { BulkDialog } from "../runs/bulk/BulkDialog";
import { runsAddress } from "../runs/filter";
import { useRunPages } from "../runs/pages";
import { matching, useFacets } from "../runs/queries";
import { NOTHING } from "../runs/table/choice";
import { column, COLUMNS } from "../runs/table/columns";
import { RunsTable } from "../runs/table/RunsTable";
import { runsOf, type FailuresAsked } from "./queries";

// Only failed and dead ones: the words are short.
const FAILED_COLUMNS = COLUMNS.map((one) => (one.id === "state" ? { ...one, width: "84px" } : one));

const RETRY_HEAD = <span className="visually-hidden">Retry</span>;

// What fits into the two lines of its head is not said again.
const HEAD_CHARACTERS = 120;

function isCut(message: string): boolean {
  return message.length > HEAD_CHARACTERS || message.includes("\n");
}

interface GroupRunsProps {
  group: FailureGroup;
  asked: FailuresAsked;
}

export function GroupRuns({ group, asked }: GroupRunsProps): ReactNode {
  const filter = runsOf(group.fingerprint, asked);
  const facets = useFacets(filter);
  const pages = useRunPages(filter);
  const [choice, setChoice] = useState(NOTHING);
  const [retried, setRetried] = useState<Meant | null>(null);
  const count = facets.data && matching(facets.data, filter);
  const retryOne = column("retry", RETRY_HEAD, "76px", (row) =>
    row.retried_as === null ? (
      <button
        type="button"
        className="small failure-retry"
        aria-label={`Retry run ${row.run}`}
        onClick={() => setRetried({ runs: [row.run] })}
      >
        Retry …
      </button>
    ) : (
      <Link to={`/runs/${row.retried_as}`}>retried</Link>
    ),
  );
  return (
    <>
      {isCut(group.message) && <pre className="failure-whole">{group.message}</pre>}
      <div className="row">
        <button
          type="button"
          className="main"
          disabled={count === 0}
          onClick={() => setRetried({ filter })}
        >
          Retry all {count?.toLocaleString("en")} …
        </button>
        <Link to={`/runs/${group.newest}`} className="button">
          Open the newest
        </Link>
        <Link to={runsAddress(filter)} className="button">
          Show in Runs
        </Link>
        <span className="soft small">
          fingerprint <code>{group.fingerprint}</code>
        </span>
      </div>
      {asked.since !== null && <Earlier count={(count ?? 0) - group.count} />}
      {facets.error && <Failure error={facets.error} />}
      <BulkBar
        filter={filter}
        choice={choice}
        onChoose={setChoice}
        matching={count}
        actions={["retry"]}
      />
      <RunsTable
        label={`Runs that failed with ${group.kind}`}
        pages={pages}
        height="420px"
        choice={choice}
        onChoose={setChoice}
        columns={[...FAILED_COLUMNS, retryOne]}
        empty="None of these runs is left: they were retried, or are not there any more."
      />
      {retried && <BulkDialog action="retry" meant={retried} onClose={() => setRetried(null)} />}
    </>
  );
}

/** A time narrows the problems, not the runs of one: who retries all shall know. */
function Earlier({ count }: { count: number }): ReactNode {
  if (count <= 0) return null;
  return (
    <p className="soft small">
      {count.toLocaleString("en")} of these runs failed before the time chosen above.
    </p>
  );
}
