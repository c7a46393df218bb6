// What of the run is shown: all of it is in the address.

import { useWords } from "../../router";

export const TABS = [
  ["overview", "Overview"],
  ["attempts", "Attempts"],
  ["events", "Events"],
  ["data", "Data"],
  ["rules", "Rules"],
  ["source", "Source"],
  ["why", "Why"],
  ["test", "Test"],
] as const;

export type TabName = (typeof TABS)[number][0];

export function tabNamed(word: string | null): TabName {
  return TABS.find(([tab]) => tab === word)?.[0] ?? "overview";
}

export interface Shown {
  tab: TabName;
  step: string | null;
  /** As of this event; null: as of now. */
  at: number | null;
  /** The event that started the attempt that is open; or its step, visit and number. */
  attempt: number | null;
  visit: number | null;
  number: number | null;
  line: number | null;
}

export type Show = (part: Partial<Shown>) => void;

/** What the address says, and a way to say something else. */
export function useShown(): [Shown, Show] {
  const [words, change] = useWords();
  const shown: Shown = {
    tab: tabNamed(words.get("tab")),
    step: words.get("step"),
    at: whole(words.get("at")),
    attempt: whole(words.get("attempt")),
    visit: whole(words.get("visit")),
    number: whole(words.get("number")),
    line: whole(words.get("line")),
  };
  const show: Show = (part) => {
    const said: { [name: string]: string | null } = {};
    for (const [name, value] of Object.entries(part)) {
      said[name] = value === null || value === "overview" ? null : String(value);
    }
    // Another tab is another place to go back from; the rest is a look around in it.
    change(said, part.tab === undefined);
  };
  return [shown, show];
}

function whole(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
