// How many runs of a program there are in each state, each a way to them.

import type { ReactNode } from "react";

import { Mark } from "../../../parts/Mark";
import { Link } from "../../../router";
import { STATES } from "../../../words/states";
import { EVERYTHING, runsAddress, STATE_ORDER } from "../../runs/filter";
import { useCounts } from "../queries";

interface RunCountsProps {
  program: string;
  /** So many states at most; the others are counted together. */
  most?: number;
}

export function RunCounts({ program, most = Infinity }: RunCountsProps): ReactNode {
  const { data, error } = useCounts(program);
  if (data === undefined) return <span className="soft">{error ? "not known" : "…"}</span>;
  if (data.total === 0) return <span className="soft">none yet</span>;
  const some = STATE_ORDER.filter((state) => data.states[state] > 0);
  const rest = some.slice(most).reduce((sum, state) => sum + data.states[state], 0);
  return (
    <span className="programs-counts">
      {some.slice(0, most).map((state) => (
        <Link key={state} to={runsAddress({ ...EVERYTHING, program, state: [state] })}>
          <Mark
            look={STATES[state]}
            word={`${data.states[state].toLocaleString("en")} ${STATES[state].word}`}
          />
        </Link>
      ))}
      {rest > 0 && (
        <Link to={runsAddress({ ...EVERYTHING, program })}>{rest.toLocaleString("en")} more</Link>
      )}
    </span>
  );
}
