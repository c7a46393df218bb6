// What went wrong, is missing, or was done: said where people look.

import type { ReactNode } from "react";

import { ApiProblem } from "../api/client";

export type NoticeTone = "bad" | "late" | "good" | "calm";

export function Notice({ tone, children }: { tone: NoticeTone; children: ReactNode }): ReactNode {
  return (
    <div className={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** An error in words; what a document has wrong is listed with its places. */
export function Failure({ error }: { error: unknown }): ReactNode {
  const said = error instanceof Error ? error.message : String(error);
  const problem = error instanceof ApiProblem ? error.problem : null;
  return (
    <Notice tone="bad">
      <p>{said}</p>
      {problem?.findings && (
        <ul>
          {problem.findings.map((found, number) => (
            <li key={number}>
              line {found.line}: {found.message} {found.suggestion}
            </li>
          ))}
        </ul>
      )}
      {problem?.misfits && (
        <ul>
          {problem.misfits.map((misfit, number) => (
            <li key={number}>
              {misfit.line !== null && `line ${misfit.line}: `}
              {misfit.message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

export function Loading({ what }: { what: string }): ReactNode {
  return (
    <p className="soft" role="status">
      Loading {what} …
    </p>
  );
}
