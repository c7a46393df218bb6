// Which other attempt this one is compared with: the one before, the first with the last, or any of
// the same task visit.

import type { ReactNode } from "react";

import type { AttemptShown } from "../../../api/types";
import { numberWords, outcomeWord } from "./attemptWords";

interface CompareChoiceProps {
  /** Attempts of one task visit, in order. */
  kin: readonly AttemptShown[];
  seq: number;
  beside: number | null;
  onCompare: (seq: number, beside: number | null) => void;
}

export function CompareChoice({ kin, seq, beside, onCompare }: CompareChoiceProps): ReactNode {
  const others = kin.filter((one) => one.seq !== seq);
  const before = others.findLast((one) => one.seq < seq) ?? others[0];
  const [first, last] = [kin[0], kin.at(-1)];
  if (before === undefined || first === undefined || last === undefined) {
    return beside === null ? null : <Stop onClick={() => onCompare(seq, null)} />;
  }
  const isEnds = beside !== null && kin.length > 2;
  const isFirstLast =
    isEnds && Math.min(seq, beside) === first.seq && Math.max(seq, beside) === last.seq;
  return (
    <div className="row small" role="group" aria-label="Compare">
      <span className="soft">Compare</span>
      <button
        type="button"
        className="small"
        aria-pressed={beside === before.seq}
        onClick={() => onCompare(seq, before.seq)}
      >
        with attempt {before.attempt}
      </button>
      {kin.length > 2 && (
        <button
          type="button"
          className="small"
          aria-pressed={isFirstLast}
          onClick={() => onCompare(last.seq, first.seq)}
        >
          first with last
        </button>
      )}
      {others.length > 1 && (
        <select
          aria-label="Compare with another attempt"
          value={beside === null ? "" : String(beside)}
          onChange={(event) => onCompare(seq, Number(event.target.value) || null)}
        >
          <option value="">with another attempt …</option>
          {beside !== null && !others.some((one) => one.seq === beside) && (
            <option value={beside}>the one that event {beside} started</option>
          )}
          {others.map((one) => (
            <option key={one.seq} value={one.seq}>
              {numberWords(one)}: {outcomeWord(one)}
            </option>
          ))}
        </select>
      )}
      {beside !== null && <Stop onClick={() => onCompare(seq, null)} />}
    </div>
  );
}

function Stop({ onClick }: { onClick: () => void }): ReactNode {
  return (
    <button type="button" className="plain" onClick={onClick}>
      This attempt alone
    </button>
  );
}
