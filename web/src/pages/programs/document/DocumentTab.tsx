// The document with what is found in it, and the graph beside it: a step points at its lines, and a
// line at its step.

import type { ReactNode } from "react";

import type { DocumentFinding, ProgramShown } from "../../../api/types";
import { FlowGraph } from "../../../graph/FlowGraph";
import { CopyButton } from "../../../parts/Commands";
import { Failure, Loading, Notice } from "../../../parts/Notice";
import { SourceView } from "../../../parts/SourceView";
import { warningsOf } from "../bounds/report";
import { useInspected } from "../editor/useInspected";
import type { Show, Shown } from "../shown";
import { FileChoice } from "./FileChoice";
import { linesOf, stepAt } from "./places";

interface DocumentTabProps {
  program: ProgramShown;
  shown: Shown;
  show: Show;
}

export function DocumentTab({ program, shown, show }: DocumentTabProps): ReactNode {
  const found = useInspected(program);
  const graph = found.data?.graph ?? null;
  const isMain = shown.file === null || !Object.hasOwn(program.files, shown.file);
  const file = (isMain ? null : shown.file) ?? program.file;
  const text = (isMain ? undefined : program.files[file]) ?? program.document;
  const language = found.data?.language ?? null;
  const step = shown.step ?? (graph && isMain && shown.line ? stepAt(graph, shown.line) : null);
  const stepLines = graph === null || step === null ? [] : linesOf(graph, step, { text, language });
  const lines = shown.line !== null ? [shown.line] : isMain ? stepLines : [];
  const findings = [...(found.data?.findings ?? []), ...warningsOf(found.data?.bounds ?? null)];
  const pick = (line: number): void =>
    show({ line, ...(graph === null || !isMain ? {} : { step: stepAt(graph, line) }) });
  return (
    <div className="programs-beside">
      <div className="stack">
        <div className="row">
          <FileChoice
            program={program}
            file={shown.file}
            onChange={(name) => show({ file: name })}
          />
          <CopyButton text={text} label="Copy the document" />
          <FindingsNotice findings={findings} isKnown={found.data !== undefined} />
        </div>
        {found.error !== null && <Failure error={found.error} />}
        <SourceView
          text={text}
          label={file}
          findings={findings.filter((one) => one.file === file)}
          lines={lines}
          onLine={pick}
        />
      </div>
      <div className="programs-graph">
        {graph !== null && (
          <FlowGraph
            graph={graph}
            selected={step}
            onSelect={(name) => show({ step: name, line: null, file: null })}
          />
        )}
        {found.data === undefined && found.error === null && <Loading what="the graph" />}
        {found.data !== undefined && graph === null && (
          <Notice tone="calm">There is no picture of this document: it is too large.</Notice>
        )}
      </div>
    </div>
  );
}

function FindingsNotice({
  findings,
  isKnown,
}: {
  findings: DocumentFinding[];
  isKnown: boolean;
}): ReactNode {
  if (!isKnown) return null;
  const count = findings.length;
  if (count === 0) return <span className="small soft">No problems found.</span>;
  return (
    <span className="small soft">
      {count === 1 ? "One thing is" : `${count} things are`} said of it, in place.
    </span>
  );
}
