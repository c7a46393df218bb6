// Two documents, line by line: what only one of them has, with some lines around it.

import { Fragment, type ReactNode } from "react";

import { coloured } from "../words/colouring";
import { counted } from "../words/time";
import "./diff.css";
import { lineDiff, type DiffLine } from "./lineDiff";
import "./source.css";

const AROUND = 3;
const SIGNS = { same: " ", old: "−", new: "+" } as const;
const WORDS = { same: "", old: "taken out: ", new: "put in: " } as const;

interface DiffViewProps {
  before: string;
  after: string;
  label: string;
}

export function DiffView({ before, after, label }: DiffViewProps): ReactNode {
  const lines = lineDiff(before, after);
  if (lines.every((line) => line.kind === "same")) {
    return <p className="soft">The two documents are the same.</p>;
  }
  return (
    <div className="source mono" role="region" aria-label={label} tabIndex={0}>
      {pieces(lines).map((piece) => (
        <Fragment key={piece.begin}>
          {piece.hidden > 0 && <p className="diff-gap">{counted(piece.hidden, "line")} the same</p>}
          {piece.lines.map((line, index) => (
            <div key={index} className={`source-line diff-line diff-${line.kind}`}>
              <span className="source-number">{line.newLine ?? line.oldLine}</span>
              <span className="diff-sign" aria-hidden="true">
                {SIGNS[line.kind]}
              </span>
              <code>
                {line.kind !== "same" && (
                  <span className="visually-hidden">{WORDS[line.kind]}</span>
                )}
                {coloured(line.text)}
              </code>
            </div>
          ))}
        </Fragment>
      ))}
    </div>
  );
}

interface Piece {
  begin: number;
  /** How many lines that are the same are left out before it. */
  hidden: number;
  lines: DiffLine[];
}

/** Cut into stretches around what differs; the last may be nothing but lines left out. */
function pieces(lines: readonly DiffLine[]): Piece[] {
  const isNear = nearness(lines);
  const found: Piece[] = [];
  let hidden = 0;
  lines.forEach((line, index) => {
    if (!isNear[index]) {
      hidden++;
      return;
    }
    const last = found.at(-1);
    if (last === undefined || hidden > 0) found.push({ begin: index, hidden, lines: [line] });
    else last.lines.push(line);
    hidden = 0;
  });
  if (hidden > 0) found.push({ begin: lines.length, hidden, lines: [] });
  return found;
}

function nearness(lines: readonly DiffLine[]): boolean[] {
  const near = lines.map(() => false);
  lines.forEach((line, index) => {
    if (line.kind !== "same") {
      near.fill(true, Math.max(0, index - AROUND), index + AROUND + 1);
    }
  });
  return near;
}
