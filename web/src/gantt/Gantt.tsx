// A run over time: a lane for each step, attempts as bars, waits hatched by their reason.

import type { ReactNode } from "react";

import type { LanesShown } from "../api/types";
import { Notice } from "../parts/Notice";
import { useNow } from "../parts/Time";
import { useWords } from "../router";
import { counted } from "../words/time";
import { Chart } from "./Chart";
import { LanesTable } from "./LanesTable";
import { Legend } from "./Legend";
import { Patterns } from "./Patterns";
import { wholeSpan } from "./scale";
import { Tools } from "./Tools";
import { useView } from "./useView";
import "./gantt.css";

export interface GanttProps {
  lanes: LanesShown;
  /** The server's clock while the run goes on; null for a run that has ended, or a past moment. */
  now: string | null;
  selected: string | null;
  onSelect: (step: string | null) => void;
  onAttempt: (step: string, attempt: number, visit: number) => void;
}

export function Gantt({ lanes, now, selected, onSelect, onAttempt }: GanttProps): ReactNode {
  const clock = useNow();
  const [words, change] = useWords();
  const passed = (clock - Date.parse(lanes.begin)) / 1000;
  const end = now === null ? lanes.seconds : Math.max(lanes.seconds, passed);
  const whole = wholeSpan(end, now !== null);
  const [span, look, isZoomed] = useView(whole);
  const isTable = words.get("times") === "table";
  if (lanes.lanes.length === 0) {
    return <Notice tone="calm">No step has started yet. The lanes of steps appear here.</Notice>;
  }
  return (
    <section className="gantt" aria-label="Steps over time">
      <Patterns />
      <div className="gantt-top">
        {isTable ? <span /> : <Legend lanes={lanes.lanes} />}
        <div className="row">
          {!isTable && <Tools span={span} whole={whole} isZoomed={isZoomed} look={look} />}
          <button
            type="button"
            className="gantt-switch"
            onClick={() => change({ times: isTable ? null : "table" })}
          >
            {isTable ? "Show as a chart" : "Show as a table"}
          </button>
        </div>
      </div>
      {isTable ? (
        <LanesTable lanes={lanes.lanes} onSelect={onSelect} />
      ) : (
        <Chart
          lanes={lanes}
          end={end}
          isLive={now !== null}
          span={span}
          whole={whole}
          look={look}
          selected={selected}
          onSelect={onSelect}
          onAttempt={onAttempt}
        />
      )}
      {lanes.more > 0 && (
        <p className="small soft">
          {counted(lanes.more, "more step")} that succeeded {lanes.more === 1 ? "is" : "are"} left
          out.
        </p>
      )}
    </section>
  );
}
