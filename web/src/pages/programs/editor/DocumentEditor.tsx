// A document that is being written: numbered lines, and what is wrong with it below. Tab indents;
// after Escape it leaves, as everywhere.

import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import type { DocumentFinding } from "../../../api/types";
import { FindingList } from "./FindingList";
import "./editor.css";

interface DocumentEditorProps {
  label: string;
  text: string;
  findings: readonly DocumentFinding[];
  /** The findings are those of an earlier text. */
  isBehind: boolean;
  onChange: (text: string) => void;
}

const INDENT = "  ";
// In rem; as high as its text, within reason.
const LINE_HEIGHT = 1.28;

export function DocumentEditor(props: DocumentEditorProps): ReactNode {
  const { text, findings, onChange } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const [leaves, setLeaves] = useState(false);
  const hint = useId();
  const lines = text.split("\n");
  const height = `clamp(220px, ${Math.ceil(lines.length * LINE_HEIGHT) + 3}rem, 56vh)`;
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Escape") return setLeaves(true);
    if (event.key !== "Tab" || event.shiftKey || leaves) {
      if (event.key !== "Tab" && event.key !== "Shift") setLeaves(false);
      return;
    }
    event.preventDefault();
    indent(event.currentTarget, onChange);
  };
  const scroll = (): void => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop;
  };
  return (
    <div className="editor">
      <div className="editor-box mono" style={{ height }}>
        <div className="editor-gutter" ref={gutter} aria-hidden="true">
          {lines.map((_, index) => (
            <Number key={index} line={index + 1} findings={findings} />
          ))}
        </div>
        <textarea
          ref={area}
          aria-label={props.label}
          aria-describedby={hint}
          aria-invalid={findings.some((found) => found.severity === "error")}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          wrap="off"
          value={text}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={press}
          onBlur={() => setLeaves(false)}
          onScroll={scroll}
        />
      </div>
      <p id={hint} className="small soft">
        Tab indents. To leave the text with Tab, press Escape first.
      </p>
      <FindingList
        findings={findings}
        isBehind={props.isBehind}
        isEmpty={text.trim() === ""}
        onShow={(found) => area.current && show(area.current, found)}
      />
    </div>
  );
}

function Number({
  line,
  findings,
}: {
  line: number;
  findings: readonly DocumentFinding[];
}): ReactNode {
  const here = findings.filter((found) => found.line === line);
  const worst = here.some((found) => found.severity === "error") ? "error" : here[0]?.severity;
  return (
    <div className={worst ? `editor-number ${worst}` : "editor-number"}>
      {worst === "error" && "✕ "}
      {worst === "warning" && "▲ "}
      {line}
    </div>
  );
}

function indent(area: HTMLTextAreaElement, onChange: (text: string) => void): void {
  // This way the browser can undo it; what cannot do that gets the text.
  if (document.execCommand?.("insertText", false, INDENT)) return;
  area.setRangeText(INDENT, area.selectionStart, area.selectionEnd, "end");
  onChange(area.value);
}

/** The cursor at the place of a finding, and that place in sight. */
function show(area: HTMLTextAreaElement, { line, column }: DocumentFinding): void {
  const lines = area.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const at = before + Math.max(0, column - 1);
  area.focus();
  area.setSelectionRange(at, before + (lines[line - 1]?.length ?? 0));
  area.scrollTop = (area.scrollHeight / lines.length) * Math.max(0, line - 6);
}
