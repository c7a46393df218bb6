// What went in, what the run keeps, and what came out; in the past also what changes then and later.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { get } from "../../../api/client";
import type { RunPicture } from "../../../api/types";
import { JsonView } from "../../../parts/JsonView";
import { runPath } from "../useRun";
import { changesOf } from "../../../words/diff";
import { Changes } from "./Changes";

interface DataTabProps {
  picture: RunPicture;
  live: RunPicture;
  at: number | null;
}

export function DataTab({ picture, live, at }: DataTabProps): ReactNode {
  return (
    <div className="run-data">
      <section className="sheet stack">
        <h2>Context</h2>
        {at !== null && (
          <>
            <ChangedBy run={picture.run} picture={picture} />
            <Changes
              title={`Since event ${picture.at}`}
              changes={changesOf(picture.ctx, live.ctx)}
              none="Nothing has changed in it since."
            />
          </>
        )}
        <JsonView value={picture.ctx} />
      </section>
      <section className="sheet stack">
        <h2>Workload</h2>
        <JsonView value={picture.workload} />
      </section>
      <section className="sheet stack">
        <h2>Result</h2>
        {picture.ended_at === null ? (
          <p className="soft">There is none before the run has ended.</p>
        ) : (
          <JsonView value={picture.result} />
        )}
      </section>
    </div>
  );
}

/** What the event looked at has changed: the picture before it says how it was. */
function ChangedBy({ run, picture }: { run: string; picture: RunPicture }): ReactNode {
  const before = picture.at - 1;
  const found = useQuery({
    queryKey: ["run", run, before],
    queryFn: ({ signal }) => get<RunPicture>(`${runPath(run)}/picture`, { at: before }, signal),
    enabled: before > 0,
    staleTime: Infinity,
    gcTime: 30_000,
  });
  const ctx = before > 0 ? found.data?.ctx : {};
  if (ctx === undefined) return null;
  return (
    <Changes
      title={`By event ${picture.at}`}
      changes={changesOf(ctx, picture.ctx)}
      none="This event changed nothing in it."
    />
  );
}
