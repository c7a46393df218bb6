// The choices of a question, with the key that each is picked by: the letter it names itself, as
// `[Y] Yes`, `Y) Yes` and `Y - Yes` do, else its number.

export interface Choice {
  /** As the program has it, and as the answer is sent. */
  label: string;
  /** The label without its letter. */
  text: string;
  key: string | null;
}

const LETTER = /^\s*(?:\[([\p{L}\p{N}_])\]\s*|([\p{L}\p{N}_])\)\s*|([\p{L}\p{N}_])\s+-\s+)(?=\S)/u;
const NUMBERS_MAX = 9;

export function choicesOf(labels: readonly string[]): Choice[] {
  const taken = new Set<string>();
  const own = labels.map((label) => {
    const found = LETTER.exec(label);
    const key = found?.[1] ?? found?.[2] ?? found?.[3];
    if (found === null || key === undefined || taken.has(key.toLowerCase())) return null;
    taken.add(key.toLowerCase());
    return { label, text: label.slice(found[0].length).trim(), key };
  });
  return labels.map((label, at) => own[at] ?? { label, text: label.trim(), key: free(at, taken) });
}

function free(at: number, taken: ReadonlySet<string>): string | null {
  const number = String(at + 1);
  return at < NUMBERS_MAX && !taken.has(number) ? number : null;
}

export function picked(choices: readonly Choice[], key: string): Choice | undefined {
  return choices.find((choice) => choice.key?.toLowerCase() === key.toLowerCase());
}
