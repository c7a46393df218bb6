// Register a document: paste it or pick a file, see what is wrong with it while it is changed, and
// then which runs could go on under it.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ChangeEvent, type ReactNode } from "react";

import { post } from "../../../api/client";
import type { Registered } from "../../../api/types";
import { CommandLines } from "../../../parts/Commands";
import { Failure } from "../../../parts/Notice";
import { DocumentEditor } from "../editor/DocumentEditor";
import { useInspected } from "../editor/useInspected";
import { sourceBody, type Source } from "../source";
import { NowRegistered } from "./NowRegistered";

const NOTHING: Source = { document: "", file: null, dialect: null, files: {} };

export function Register(): ReactNode {
  const [source, setSource] = useState(NOTHING);
  const found = useInspected(source);
  const isEmpty = source.document.trim() === "";
  const findings = isEmpty ? [] : (found.data?.findings ?? []);
  const hasErrors = findings.some((one) => one.severity === "error");
  const registering = useRegistering();
  const pick = async (event: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const file = event.target.files?.[0];
    if (file) setSource({ ...NOTHING, document: await file.text(), file: file.name });
  };
  const change = (document: string): void => setSource({ ...source, document });
  const name = found.data?.name ?? null;
  const isReady = !isEmpty && found.isSettled && !hasErrors && name !== null;
  return (
    <section className="sheet stack" aria-label="Register a document">
      <label className="field programs-file">
        A file of this machine, or paste a playbook or a graph below
        <input type="file" accept=".yaml,.yml,.json,.dot,.gv" onChange={(e) => void pick(e)} />
      </label>
      <DocumentEditor
        label="Document"
        text={source.document}
        findings={findings}
        isBehind={!isEmpty && !found.isSettled}
        onChange={change}
      />
      {found.error !== null && !isEmpty && <Failure error={found.error} />}
      {registering.error !== null && <Failure error={registering.error} />}
      <div className="row">
        <button
          type="button"
          className="main"
          disabled={!isReady || registering.isPending}
          onClick={() => registering.mutate(source)}
        >
          {name === null || isEmpty ? "Register" : `Register ${name}`}
        </button>
        {!isEmpty && hasErrors && <span className="soft">Fix the errors first.</span>}
      </div>
      {registering.data && <NowRegistered registered={registering.data} />}
      <details className="programs-same">
        <summary>CLI and API</summary>
        <CommandLines
          command={{
            cli: ["register", source.file ?? "FILE"],
            method: "POST",
            path: "/api/v1/programs",
            body: sourceBody(source),
          }}
        />
      </details>
    </section>
  );
}

export function useRegistering() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (source: Source) => post<Registered>("/api/v1/programs", sourceBody(source)),
    onSuccess: () => {
      for (const part of ["list", "one", "versions"]) {
        void client.invalidateQueries({ queryKey: ["programs", part] });
      }
    },
  });
}
