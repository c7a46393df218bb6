// Try another policy: on the run that the address names, under the document that run had, or on the
// newest failed runs of the program.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { get } from "../../../api/client";
import type { ProgramShown, RunDocument, RunPage, State } from "../../../api/types";
import { Failure, Loading, Notice } from "../../../parts/Notice";
import { Link } from "../../../router";
import { runPath } from "../../run/useRun";
import { TryPolicy } from "../TryPolicy";

const FAILED: readonly State[] = ["failed", "dead"];
const RUNS_TRIED = 10;

interface TryTabProps {
  program: ProgramShown;
  run: string | null;
}

export function TryTab({ program, run }: TryTabProps): ReactNode {
  return run === null ? <TryNewest program={program} /> : <TryRun key={run} run={run} />;
}

/** On one run, beginning with the document that it is pinned to. */
export function TryRun({ run }: { run: string }): ReactNode {
  const found = useQuery({
    queryKey: ["programs", "pinned", run],
    queryFn: ({ signal }) => get<RunDocument>(`${runPath(run)}/document`, {}, signal),
    staleTime: Infinity,
  });
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="its document" />;
  }
  const { document, file, dialect, files } = found.data;
  return <TryPolicy {...{ document, file, dialect, files }} runs={[run]} />;
}

function TryNewest({ program }: { program: ProgramShown }): ReactNode {
  const { name, document, file, dialect, files } = program;
  const found = useQuery({
    queryKey: ["programs", "failed", name],
    queryFn: async ({ signal }) => {
      const asked = { program: name, state: FAILED, limit: RUNS_TRIED };
      const { runs } = await get<RunPage>("/api/v1/runs", asked, signal);
      return runs.map((row) => row.run);
    },
    // What is being tried shall not change under someone's hands.
    staleTime: Infinity,
  });
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="its failed runs" />;
  }
  return (
    <>
      {found.data.length === 0 && (
        <Notice tone="calm">
          No run of this program has failed. Any run that has ended can be tried: open it, and then
          its tab Test. <Link to={`/?program=${encodeURIComponent(name)}`}>Its runs</Link>
        </Notice>
      )}
      <TryPolicy {...{ document, file, dialect, files }} runs={found.data} />
    </>
  );
}
