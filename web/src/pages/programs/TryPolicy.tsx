// Edit a document, and see how past runs would have gone under it. Nothing is executed: the engine
// plays the document against what the logs say.

import { useMutation } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { inquire } from "../../api/client";
import type { WhatifRequest, WhatifShown } from "../../api/types";
import { CommandLines } from "../../parts/Commands";
import { DiffView } from "../../parts/DiffView";
import { Failure } from "../../parts/Notice";
import { DocumentEditor } from "./editor/DocumentEditor";
import { useInspected } from "./editor/useInspected";
import "./programs.css";
import { NowRegistered } from "./register/NowRegistered";
import { useRegistering } from "./register/Register";
import { lastPart, sourceBody, type Source } from "./source";
import { Outcome } from "./trying/Outcome";
import { RunsChoice } from "./trying/RunsChoice";

export interface TryPolicyProps {
  document: string;
  file: string;
  dialect: string | null;
  files: { [name: string]: string };
  /** Those that can be chosen; at first all of them are. */
  runs: readonly string[];
}

export function TryPolicy({ document, file, dialect, files, runs }: TryPolicyProps): ReactNode {
  const [text, setText] = useState(document);
  const [chosen, setChosen] = useState<readonly string[]>(runs);
  const source: Source = { document: text, file, dialect, files };
  const found = useInspected(source);
  const findings = found.data?.findings ?? [];
  const hasErrors = findings.some((one) => one.severity === "error");
  const isChanged = text !== document;
  const trying = useTrying();
  const registering = useRegistering();
  const isReady = found.isSettled && !hasErrors && chosen.length > 0;
  const asked = { ...sourceBody(source), document: text, runs: [...chosen] };
  return (
    <>
      <section className="sheet stack" aria-label="The document to try">
        <p className="soft">
          Change a rule, a delay or a limit, and see how these runs would have gone. Nothing is
          executed.
        </p>
        <DocumentEditor
          label={`${lastPart(file)}, to be changed`}
          text={text}
          findings={findings}
          isBehind={!found.isSettled}
          onChange={setText}
        />
        {found.error !== null && <Failure error={found.error} />}
        {isChanged && (
          <details>
            <summary>What was changed</summary>
            <DiffView before={document} after={text} label="What was changed" />
          </details>
        )}
        <RunsChoice runs={runs} chosen={chosen} onChange={setChosen} />
        <div className="row">
          <button
            type="button"
            className="main"
            disabled={!isReady || trying.isPending}
            onClick={() => trying.mutate(asked)}
          >
            {trying.isPending ? "Playing …" : "Try it"}
          </button>
          <button
            type="button"
            disabled={!isChanged || !found.isSettled || hasErrors || registering.isPending}
            onClick={() => registering.mutate(source)}
          >
            Register it as a new version
          </button>
          {isChanged && (
            <button type="button" className="plain" onClick={() => setText(document)}>
              Discard the changes
            </button>
          )}
        </div>
        {registering.error !== null && <Failure error={registering.error} />}
        {registering.data && <NowRegistered registered={registering.data} />}
        <details className="programs-same">
          <summary>CLI and API</summary>
          <CommandLines
            command={{
              cli: ["whatif", "--program", lastPart(file), ...chosen],
              method: "POST",
              path: "/api/v1/whatif",
              body: asked,
            }}
          />
        </details>
      </section>
      {trying.error !== null && <Failure error={trying.error} />}
      {trying.data && (
        <Outcome
          shown={trying.data.shown}
          source={trying.data.source}
          isOld={trying.data.source.document !== text}
        />
      )}
    </>
  );
}

function useTrying() {
  return useMutation({
    mutationFn: async (asked: WhatifRequest) => {
      const { document, file = null, dialect = null, files = {} } = asked;
      const shown = await inquire<WhatifShown>("/api/v1/whatif", asked);
      // What a fork goes on under is what was tried, whatever is typed meanwhile.
      return { shown, source: { document, file, dialect, files } };
    },
  });
}
