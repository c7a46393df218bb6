// Lines through all lanes: the moment under the pointer, the stretch dragged over, and now.

import type { ReactNode } from "react";

import { duration } from "../words/time";
import { pixelOf, secondsAt, type Scale } from "./scale";
import { momentAfter } from "./Tip";

interface CursorProps {
  scale: Scale;
  begin: string;
  cursor: number | null;
  dragged: number | null;
  /** Seconds; null when the run does not go on. */
  now: number | null;
}

export function Cursor({ scale, begin, cursor, dragged, now }: CursorProps): ReactNode {
  const nowAt = now === null ? -1 : pixelOf(scale, now);
  return (
    <div className="gantt-over" aria-hidden="true">
      {nowAt >= 0 && nowAt <= scale.width && <div className="gantt-now" style={{ left: nowAt }} />}
      {cursor !== null && dragged !== null && (
        <div
          className="gantt-drag"
          style={{ left: Math.min(cursor, dragged), width: Math.abs(cursor - dragged) }}
        />
      )}
      {cursor !== null && (
        <div className="gantt-cursor" style={{ left: cursor }}>
          <span className={cursor > scale.width / 2 ? "gantt-moment gantt-left" : "gantt-moment"}>
            {duration(secondsAt(scale, cursor))} · {momentAfter(begin, secondsAt(scale, cursor))}
          </span>
        </div>
      )}
    </div>
  );
}
