// Which run a point is.

import type { ReactNode } from "react";

import { StateMark } from "../../../parts/Mark";
import { duration, moment } from "../../../words/time";
import type { Placed } from "./placing";

const WIDTH = 230;

export function Tip({ found, width }: { found: Placed; width: number }): ReactNode {
  const [run, at, seconds, state] = found.point;
  const left = Math.min(Math.max(found.x + 12, 0), Math.max(0, width - WIDTH));
  // Beside the point where there is room, else above or below it.
  const top =
    found.x + 12 > width - WIDTH && found.y < 96 ? found.y + 14 : Math.max(0, found.y - 84);
  return (
    <div className="scatter-tip" style={{ left, top }} aria-hidden="true">
      <StateMark state={state} />
      <span className="mono">{run}</span>
      <span>
        started {moment(at)}, {duration(seconds)}
      </span>
    </div>
  );
}
