// Which lines two documents share, and which only one of them has.

export interface DiffLine {
  kind: "same" | "old" | "new";
  text: string;
  /** In the old document, 1 first; null for a line that only the new one has. */
  oldLine: number | null;
  newLine: number | null;
}

// The table of the search is this large at most (its sides multiplied). What is longer is shown as
// taken out and put in, once the lines that are the same at both ends are set aside.
const CELLS_MAX = 4_000_000;

export function lineDiff(oldText: string, newText: string): DiffLine[] {
  const before = oldText.split("\n");
  const after = newText.split("\n");
  const head = sharedHead(before, after);
  const tail = sharedHead(before.slice(head).toReversed(), after.slice(head).toReversed());
  const oldEnd = before.length - tail;
  const newEnd = after.length - tail;
  const diff: DiffLine[] = [];
  let [oldAt, newAt] = [0, 0];
  const add = (kind: DiffLine["kind"]): void => {
    const text = (kind === "new" ? after[newAt] : before[oldAt]) ?? "";
    const oldLine = kind === "new" ? null : ++oldAt;
    const newLine = kind === "old" ? null : ++newAt;
    diff.push({ kind, text, oldLine, newLine });
  };
  const upTo = (oldStop: number, newStop: number): void => {
    while (oldAt < oldStop) add("old");
    while (newAt < newStop) add("new");
  };
  while (oldAt < head) add("same");
  for (const [oldSame, newSame] of shared(before, after, { head, oldEnd, newEnd })) {
    upTo(oldSame, newSame);
    add("same");
  }
  upTo(oldEnd, newEnd);
  while (oldAt < before.length) add("same");
  return diff;
}

function sharedHead(one: readonly string[], other: readonly string[]): number {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count++;
  return count;
}

interface Middle {
  head: number;
  oldEnd: number;
  newEnd: number;
}

/** The longest common subsequence of the middles: pairs of indices, in order. */
function shared(
  before: readonly string[],
  after: readonly string[],
  { head, oldEnd, newEnd }: Middle,
): [number, number][] {
  const rows = oldEnd - head;
  const width = newEnd - head + 1;
  if (rows * width > CELLS_MAX) return [];
  const best = new Uint16Array((rows + 1) * width);
  const at = (row: number, column: number): number => best[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = width - 2; column >= 0; column--) {
      best[row * width + column] =
        before[head + row] === after[head + column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: [number, number][] = [];
  let [row, column] = [0, 0];
  while (row < rows && column < width - 1) {
    if (before[head + row] === after[head + column]) pairs.push([head + row++, head + column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return pairs;
}
