// Which open runs of older versions could go on under the newest: each is asked for a preview of
// its fork, when somebody wants to know. Nothing is started.

import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { ApiProblem, get, inquire } from "../../../api/client";
import type {
  MisfitRow,
  ProgramRow,
  RunForked,
  RunMoves,
  RunPage,
  State,
} from "../../../api/types";
import { Failure, Loading } from "../../../parts/Notice";
import { counted } from "../../../words/time";
import { runPath } from "../../run/useRun";
import { Moves } from "./Moves";

const OPEN: readonly State[] = [
  "queued",
  "running",
  "retrying",
  "person",
  "signal",
  "parked",
  "waiting",
  "paused",
];
const LISTED_MAX = 100;
// A preview each: more than these nobody moves by hand.
const PREVIEWS_MAX = 20;

export function OpenRuns({ newest }: { newest: ProgramRow }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const { name, version, digest } = newest;
  const open = useQuery({
    queryKey: ["programs", "open", name, digest],
    queryFn: async ({ signal }) => {
      const asked = { program: name, state: OPEN, limit: LISTED_MAX };
      const { runs, next } = await get<RunPage>("/api/v1/runs", asked, signal);
      const others = runs.filter((run) => run.digest !== digest && run.parent === null);
      return { runs: others.map((run) => run.run), has_more: next !== null };
    },
  });
  if (open.error !== null) return <Failure error={open.error} />;
  const runs = open.data?.runs ?? [];
  if (runs.length === 0) {
    return (
      open.data && (
        <p className="soft">No open run is on another document than version {version}.</p>
      )
    );
  }
  const hasMore = (open.data?.has_more ?? false) || runs.length > PREVIEWS_MAX;
  return (
    <section className="sheet stack" aria-label="Open runs of older versions">
      <div className="row">
        <p>
          {counted(runs.length, "open run is", "open runs are")} on another document than version{" "}
          {version}.
        </p>
        {!isAsked && (
          <button type="button" onClick={() => setAsked(true)}>
            Which could move?
          </button>
        )}
      </div>
      {isAsked && <Movable newest={newest} runs={runs.slice(0, PREVIEWS_MAX)} hasMore={hasMore} />}
    </section>
  );
}

interface MovableProps {
  newest: ProgramRow;
  runs: readonly string[];
  hasMore: boolean;
}

function Movable({ newest: { name, version }, runs, hasMore }: MovableProps): ReactNode {
  const found = useQuery({
    queryKey: ["programs", "movable", name, version, runs],
    queryFn: () => movesOf(name, version, runs),
    staleTime: Infinity,
  });
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="their previews" />;
  }
  return <Moves name={name} version={version} moves={{ ...found.data, has_more: hasMore }} />;
}

async function movesOf(
  program: string,
  version: number,
  runs: readonly string[],
): Promise<RunMoves> {
  const moves: RunMoves = { movable: [], stuck: [], has_more: false };
  for (const run of runs) {
    const reasons = await misfits(run, { program, version });
    if (reasons.length === 0) moves.movable.push(run);
    else moves.stuck.push({ run, reasons });
  }
  return moves;
}

/** Why a run cannot go on under a version; it may have ended meanwhile, too. */
async function misfits(
  run: string,
  to: { program: string; version: number },
): Promise<MisfitRow[]> {
  try {
    const asked = { ...to, dry_run: true };
    return (await inquire<RunForked>(`${runPath(run)}/fork`, asked)).preview?.misfits ?? [];
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const nowhere = { step: null, task: null, file: null, line: null, column: null };
    return [{ message: error.message, ...nowhere }];
  }
}
