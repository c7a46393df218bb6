// The document the run is pinned to: the lines someone pointed at, how often each rule decided, and
// how the newest version differs.

import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { get } from "../../../api/client";
import type { ProgramShown, RunDocument, RunPicture } from "../../../api/types";
import { DiffView } from "../../../parts/DiffView";
import { Failure, Loading } from "../../../parts/Notice";
import { SourceView } from "../../../parts/SourceView";
import { Link } from "../../../router";
import type { Show, Shown } from "../shown";
import { useDocument } from "./useDocument";

interface SourceTabProps {
  picture: RunPicture;
  shown: Shown;
  show: Show;
}

export function SourceTab({ picture, shown, show }: SourceTabProps): ReactNode {
  const found = useDocument(picture.run);
  const [isDiff, setDiff] = useState(false);
  const [file, setFile] = useState("");
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the document" />;
  }
  const { newest, version, files, document } = found.data;
  const isOld = newest !== null && newest !== version;
  const line = shown.line ?? lineOf(picture, shown.step);
  return (
    <>
      <div className="row">
        <FileChoice document={found.data} file={file} onChange={setFile} />
        <span className="small soft">
          {version === null ? "This document is not registered." : `Version ${version}.`}
        </span>
        {isOld && (
          <button type="button" aria-pressed={isDiff} onClick={() => setDiff(!isDiff)}>
            {isDiff ? "The document of this run" : `What version ${newest} changes`}
          </button>
        )}
        {shown.line !== null && (
          <button type="button" className="plain" onClick={() => show({ line: null })}>
            Point at no line
          </button>
        )}
      </div>
      {isDiff && isOld ? (
        <NewestDiff document={found.data} newest={newest} />
      ) : (
        <SourceView
          text={files[file] ?? document}
          label={file || found.data.file}
          lines={line === null || file ? [] : [line]}
          notes={file ? {} : notesOf(picture)}
        />
      )}
    </>
  );
}

/** A file without its folders, which are those of another machine. */
function lastPart(file: string): string {
  return file.split("/").at(-1) || file;
}

interface FileChoiceProps {
  document: RunDocument;
  file: string;
  onChange: (file: string) => void;
}

function FileChoice({ document, file, onChange }: FileChoiceProps): ReactNode {
  const others = Object.keys(document.files);
  if (others.length === 0) return <code title={document.file}>{lastPart(document.file)}</code>;
  return (
    <select aria-label="File" value={file} onChange={(event) => onChange(event.target.value)}>
      <option value="">{lastPart(document.file)}</option>
      {others.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function NewestDiff({ document, newest }: { document: RunDocument; newest: number }): ReactNode {
  const { name } = document;
  const path = `/api/v1/programs/${encodeURIComponent(name)}`;
  const found = useQuery({
    queryKey: ["program", name, newest],
    queryFn: ({ signal }) => get<ProgramShown>(path, { version: newest }, signal),
    staleTime: Infinity,
  });
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the newest version" />;
  }
  return (
    <>
      <p className="small soft">
        A fork can continue under version {newest}.{" "}
        <Link to={`/programs/${encodeURIComponent(name)}`}>All versions</Link>
      </p>
      <DiffView
        before={document.document}
        after={found.data.document}
        label={`From the document of this run to version ${newest}`}
      />
    </>
  );
}

function lineOf(picture: RunPicture, step: string | null): number | null {
  return picture.graph?.nodes.find((node) => node.name === step)?.line ?? null;
}

/** Beside the line of each rule: how often it decided. */
export function notesOf(picture: RunPicture): { [line: number]: ReactNode } {
  const hits = new Map<number, number>();
  for (const { rule, hits: count } of picture.rules) {
    if (rule.line !== null) hits.set(rule.line, (hits.get(rule.line) ?? 0) + count);
  }
  const notes: { [line: number]: ReactNode } = {};
  for (const [line, count] of hits) {
    const word = count ? `${count.toLocaleString("en")}×` : "–";
    notes[line] = (
      <span
        className={count ? "run-note" : "run-note soft"}
        title={count ? `This rule decided ${word}` : "This rule never decided"}
      >
        {word}
      </span>
    );
  }
  return notes;
}
