// Try another policy: on the run that the address names, under the document that run had, or on the
// newest failed runs of the program; where none has failed, on those that are done.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { get } from "../../../api/client";
import type { ProgramShown, RunDocument, RunPage, State } from "../../../api/types";
import { Failure, Loading, Notice } from "../../../parts/Notice";
import { runPath } from "../../run/useRun";
import { TryPolicy } from "../TryPolicy";

const FAILED: readonly State[] = ["failed", "dead"];
const DONE: readonly State[] = ["done"];
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
    queryKey: ["programs", "ended", name],
    queryFn: async ({ signal }) => {
      const failed = await newest(name, FAILED, signal);
      return failed.length > 0
        ? { runs: failed, hasFailed: true }
        : { runs: await newest(name, DONE, signal), hasFailed: false };
    },
    // What is being tried shall not change under someone's hands.
    staleTime: Infinity,
  });
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="its failed runs" />;
  }
  return (
    <>
      {!found.data.hasFailed && (
        <Notice tone="calm">
          No run of this program has failed.{" "}
          {found.data.runs.length > 0
            ? "These are the newest that are done."
            : "It can be tried once one has ended."}
        </Notice>
      )}
      <TryPolicy {...{ document, file, dialect, files }} runs={found.data.runs} />
    </>
  );
}

async function newest(
  program: string,
  state: readonly State[],
  signal: AbortSignal,
): Promise<string[]> {
  const asked = { program, state, limit: RUNS_TRIED };
  return (await get<RunPage>("/api/v1/runs", asked, signal)).runs.map((row) => row.run);
}
