// Two texts line by line; of what is very long, the beginning.

import type { ReactNode } from "react";

import { DiffView } from "../../../parts/DiffView";

const LINES_MAX = 2_000;
const CHARACTERS_MAX = 300_000;

interface TextDiffProps {
  before: string;
  after: string;
  label: string;
}

export function TextDiff({ before, after, label }: TextDiffProps): ReactNode {
  const [old, young] = [cut(before), cut(after)];
  const isCut = old !== before || young !== after;
  return (
    <>
      <DiffView before={old} after={young} label={`${label}, line by line`} />
      {isCut && (
        <p className="soft small">
          Only the first {LINES_MAX.toLocaleString("en")} lines are compared.
        </p>
      )}
    </>
  );
}

export function cut(text: string): string {
  const short = text.length > CHARACTERS_MAX ? text.slice(0, CHARACTERS_MAX) : text;
  const lines = short.split("\n");
  return lines.length > LINES_MAX ? lines.slice(0, LINES_MAX).join("\n") : short;
}
