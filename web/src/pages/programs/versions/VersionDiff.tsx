// How two versions of a program differ: the document, and each file that it names.

import type { ReactNode } from "react";

import type { ProgramShown } from "../../../api/types";
import { DiffView } from "../../../parts/DiffView";
import { Failure, Loading } from "../../../parts/Notice";
import { useProgram } from "../queries";
import { lastPart } from "../source";

interface VersionDiffProps {
  name: string;
  from: number;
  to: number;
}

export function VersionDiff({ name, from, to }: VersionDiffProps): ReactNode {
  const old = useProgram(name, from);
  const young = useProgram(name, to);
  const error = old.error ?? young.error;
  if (old.data === undefined || young.data === undefined) {
    return error ? <Failure error={error} /> : <Loading what="the two versions" />;
  }
  const label = `From version ${from} to version ${to}`;
  return (
    <section className="stack" aria-label={label}>
      <h2>{label}</h2>
      <DiffView
        before={old.data.document}
        after={young.data.document}
        label={`${label}: ${lastPart(young.data.file)}`}
      />
      {otherFiles(old.data, young.data).map((file) => (
        <section key={file} className="stack">
          <h3>{file}</h3>
          <DiffView
            before={old.data.files[file] ?? ""}
            after={young.data.files[file] ?? ""}
            label={`${label}: ${file}`}
          />
        </section>
      ))}
    </section>
  );
}

/** Files that are not the same in both. */
function otherFiles(old: ProgramShown, young: ProgramShown): string[] {
  const names = new Set([...Object.keys(old.files), ...Object.keys(young.files)]);
  return [...names].filter((name) => old.files[name] !== young.files[name]).toSorted();
}
