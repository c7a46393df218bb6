// Make a test of this run, and try another policy on it.

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useState, type ReactNode } from "react";

import { getText } from "../../../api/client";
import type { RunPicture } from "../../../api/types";
import { CommandLines, CopyButton } from "../../../parts/Commands";
import { Failure, Loading } from "../../../parts/Notice";
import { SourceView } from "../../../parts/SourceView";
import { Link } from "../../../router";
import { hasEnded, runPath } from "../useRun";
import { useDocument } from "./useDocument";

// The editor comes only to whoever opens this view.
const TryPolicy = lazy(async () => ({
  default: (await import("../../programs/TryPolicy")).TryPolicy,
}));

export function TestTab({ picture }: { picture: RunPicture }): ReactNode {
  const { program, run } = picture;
  return (
    <>
      <section className="sheet stack">
        <h2>Turn this run into a test</h2>
        <p className="soft">
          A scenario has the outcomes, answers, signals and times of this run, without its secrets.{" "}
          <code>anew test</code> plays it in no time and with no tool called, and says when a change
          of the document makes another decision.
        </p>
        {hasEnded(picture.status) ? (
          <Scenario picture={picture} />
        ) : (
          <p>It can be made once the run has ended.</p>
        )}
      </section>
      <section className="sheet stack">
        <h2>Try another policy on this run</h2>
        <p className="soft">
          The engine plays the document against what the log says.{" "}
          <Link to={tryAddress(program, run)}>The same on the page of the program</Link>
        </p>
      </section>
      <Suspense fallback={<Loading what="the editor" />}>
        <TryHere run={run} />
      </Suspense>
    </>
  );
}

/** Beginning with the document that the run is pinned to. */
function TryHere({ run }: { run: string }): ReactNode {
  const found = useDocument(run);
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the document" />;
  }
  const { document, file, dialect, files } = found.data;
  return <TryPolicy {...{ document, file, dialect, files }} runs={[run]} />;
}

export function tryAddress(program: string, run: string): string {
  return `/programs/${encodeURIComponent(program)}?try=${encodeURIComponent(run)}`;
}

function Scenario({ picture }: { picture: RunPicture }): ReactNode {
  const { run, program } = picture;
  const path = `${runPath(run)}/scenario`;
  const found = useQuery({
    queryKey: ["run", run, "scenario"],
    queryFn: () => getText(path),
    staleTime: Infinity,
    retry: false,
  });
  const name = `${program.split("/").at(-1)}.${run}.scenario.yaml`;
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the scenario" />;
  }
  return (
    <>
      <div className="row">
        <CopyButton text={found.data} label="Copy the scenario" />
        <Download text={found.data} name={name} />
      </div>
      <SourceView text={found.data} label="Scenario" />
      <details className="run-same">
        <summary>CLI and API</summary>
        <CommandLines command={{ cli: ["record", run, "-o", name], method: "GET", path }} />
      </details>
    </>
  );
}

function Download({ text, name }: { text: string; name: string }): ReactNode {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([text], { type: "text/yaml" }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [text]);
  return (
    <a className="button small" href={address} download={name}>
      Download
    </a>
  );
}
