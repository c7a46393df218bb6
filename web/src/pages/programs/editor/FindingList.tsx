// What the server finds in a document, each with a way to its place.

import type { ReactNode } from "react";

import type { DocumentFinding } from "../../../api/types";
import { Mark } from "../../../parts/Mark";
import type { Look } from "../../../words/states";
import { counted } from "../../../words/time";

const LOOKS: { [severity in DocumentFinding["severity"]]: Look } = {
  error: { word: "error", tone: "bad", shape: "cross" },
  warning: { word: "warning", tone: "late", shape: "clock" },
  info: { word: "note", tone: "calm", shape: "dots" },
};
const FINDINGS_SHOWN = 50;

interface FindingListProps {
  findings: readonly DocumentFinding[];
  isBehind: boolean;
  isEmpty: boolean;
  onShow: (found: DocumentFinding) => void;
}

export function FindingList(props: FindingListProps): ReactNode {
  const { findings, isBehind, isEmpty, onShow } = props;
  return (
    <div className="editor-findings">
      <p role="status" className="small soft">
        {isEmpty ? "Nothing to look at yet." : isBehind ? "Looking …" : summary(findings)}
      </p>
      {findings.length > 0 && (
        <ul aria-label="Findings">
          {findings.slice(0, FINDINGS_SHOWN).map((found, number) => (
            <li key={number}>
              <Mark look={LOOKS[found.severity]} />
              <button type="button" className="plain small" onClick={() => onShow(found)}>
                line {found.line}
              </button>
              <span>
                {found.message}
                {found.suggestion !== null && <span className="soft"> {found.suggestion}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function summary(findings: readonly DocumentFinding[]): string {
  const count = (severity: DocumentFinding["severity"]): number =>
    findings.filter((found) => found.severity === severity).length;
  const counts = [
    [count("error"), "error"] as const,
    [count("warning"), "warning"] as const,
    [count("info"), "note"] as const,
  ].filter(([many]) => many > 0);
  if (counts.length === 0) return "No problems found.";
  return counts.map(([many, word]) => counted(many, word)).join(", ");
}
