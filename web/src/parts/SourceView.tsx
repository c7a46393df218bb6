// A document with numbered lines, and what is said of them in place.

import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";

import type { DocumentFinding } from "../api/types";
import { coloured } from "../words/colouring";
import "./source.css";

interface SourceViewProps {
  text: string;
  label: string;
  findings?: readonly DocumentFinding[];
  /** Lines to point at, 1 first; the first of them is scrolled to. */
  lines?: readonly number[];
  /** Beside the number of a line: how often it decided, whether nothing has. */
  notes?: { [line: number]: ReactNode };
  /** A line was chosen, by its number or with j and k. */
  onLine?: (line: number) => void;
}

const MOVES: { [key: string]: number } = { j: 1, k: -1 };

export function SourceView(props: SourceViewProps): ReactNode {
  const { text, findings = [], lines = [], notes = {}, onLine } = props;
  const pointed = useRef<HTMLDivElement>(null);
  const clicked = useRef<number>(undefined);
  const first = lines[0];
  const kind = Object.keys(notes).length > 0 ? "source mono has-notes" : "source mono";
  useEffect(() => {
    // What was clicked is in sight, and shall not jump away.
    if (first !== clicked.current) pointed.current?.scrollIntoView({ block: "center" });
    clicked.current = undefined;
  }, [first]);
  const click = (line: number): void => {
    clicked.current = line;
    onLine?.(line);
  };
  const move = (event: KeyboardEvent): void => {
    const by = MOVES[event.key];
    if (by === undefined || onLine === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onLine(Math.min(Math.max((first ?? 0) + by, 1), text.split("\n").length));
  };
  const said = new Map<number, DocumentFinding[]>();
  for (const found of findings) said.set(found.line, [...(said.get(found.line) ?? []), found]);
  return (
    <div
      className={kind}
      role="region"
      aria-label={props.label}
      aria-keyshortcuts={onLine && "j k"}
      tabIndex={0}
      onKeyDown={move}
    >
      {text.split("\n").map((line, index) => {
        const number = index + 1;
        const isPointed = lines.includes(number);
        return (
          <div key={number} ref={number === first ? pointed : undefined}>
            <div className={isPointed ? "source-line pointed" : "source-line"}>
              {onLine === undefined ? (
                <span className="source-number">{number}</span>
              ) : (
                <button
                  type="button"
                  className="source-number"
                  tabIndex={-1}
                  aria-label={`line ${number}`}
                  onClick={() => click(number)}
                >
                  {number}
                </button>
              )}
              <span className="source-note">{notes[number]}</span>
              <code>{coloured(line)}</code>
            </div>
            {said.get(number)?.map((found, at) => (
              <p key={at} className={`source-finding ${found.severity}`}>
                {found.severity}: {found.message}
                {found.suggestion !== null && `. ${found.suggestion}`}
              </p>
            ))}
          </div>
        );
      })}
    </div>
  );
}
