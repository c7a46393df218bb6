// Which document a fork goes on under: the run's own, a registered version, or one edited here.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { get } from "../../../api/client";
import type { RunPicture, VersionPage } from "../../../api/types";
import { Failure } from "../../../parts/Notice";
import { useDocument } from "../tabs/useDocument";
import { OWN, type DocumentChosen } from "./forkWords";

interface OtherDocumentProps {
  picture: RunPicture;
  chosen: DocumentChosen;
  onChange: (chosen: DocumentChosen) => void;
}

const EDITED = "edited";

export function OtherDocument({ picture, chosen, onChange }: OtherDocumentProps): ReactNode {
  const document = useDocument(picture.run);
  const versions = useVersions(picture.program, document.data?.newest != null);
  const choose = (word: string): void => {
    if (word === EDITED && document.data) {
      onChange({ kind: "edited", text: document.data.document, from: document.data });
    } else if (word === "own") onChange(OWN);
    else if (/^\d+$/.test(word)) onChange({ kind: "version", version: Number(word) });
  };
  const others = versions.filter((version) => version !== picture.version);
  return (
    <>
      <label className="field">
        Continue under
        <select
          value={chosen.kind === "version" ? String(chosen.version) : chosen.kind}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="own">its own document</option>
          {others.map((version) => (
            <option key={version} value={version}>
              {picture.program}, version {version}
            </option>
          ))}
          {document.data && <option value={EDITED}>its document, edited here</option>}
        </select>
      </label>
      {document.error !== null && <Failure error={document.error} />}
      {chosen.kind === "edited" && (
        <label className="field">
          Document
          <textarea
            rows={14}
            spellCheck={false}
            className="mono"
            value={chosen.text}
            onChange={(event) => onChange({ ...chosen, text: event.target.value })}
          />
        </label>
      )}
    </>
  );
}

/** A program that was only run has none: it is not asked for. */
function useVersions(program: string, isRegistered: boolean): number[] {
  const path = `/api/v1/programs/${encodeURIComponent(program)}/versions`;
  const found = useQuery({
    queryKey: ["program", program, "versions"],
    queryFn: async ({ signal }) =>
      (await get<VersionPage>(path, {}, signal)).versions.map((row) => row.version),
    enabled: isRegistered,
    retry: false,
  });
  return found.data ?? [];
}
