// What of a program is shown: all of it is in the address.

import { useWords } from "../../router";

export const TABS = [
  ["document", "Document"],
  ["versions", "Versions"],
  ["bounds", "Bounds"],
  ["coverage", "Coverage"],
  ["start", "Start"],
  ["try", "Try another policy"],
] as const;

export type TabName = (typeof TABS)[number][0];

export interface Shown {
  tab: TabName;
  /** Null: the newest. */
  version: number | null;
  step: string | null;
  line: number | null;
  /** A file the document names; null: the document. */
  file: string | null;
  /** The two versions that are compared. */
  from: number | null;
  to: number | null;
  /** The run to try another policy on. */
  tried: string | null;
}

export type Show = (part: Partial<Shown>) => void;

/** What the address says, and a way to say something else. */
export function useShown(): [Shown, Show] {
  const [words, change] = useWords();
  const tried = words.get("try");
  const shown: Shown = {
    tab: tabNamed(words.get("tab")) ?? (tried === null ? "document" : "try"),
    version: whole(words.get("version")),
    step: words.get("step"),
    line: whole(words.get("line")),
    file: words.get("file"),
    from: whole(words.get("from")),
    to: whole(words.get("to")),
    tried,
  };
  const show: Show = (part) => {
    const said: { [name: string]: string | null } = {};
    for (const [name, value] of Object.entries(part)) {
      said[name === "tried" ? "try" : name] = value === null ? null : String(value);
    }
    // Another tab is another place to go back from; the rest is a look around in it.
    change(said, part.tab === undefined && part.version === undefined);
  };
  return [shown, show];
}

function tabNamed(word: string | null): TabName | undefined {
  return TABS.find(([tab]) => tab === word)?.[0];
}

function whole(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
