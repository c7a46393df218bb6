// The lanes as a table: how long each step worked and waited, and for what.

import type { ReactNode } from "react";

import type { LaneShown } from "../api/types";
import { StepMark } from "../parts/Mark";
import { BARS } from "../words/states";
import { duration } from "../words/time";
import { isWork } from "./bars";
import { densityWords, KINDS, loopText } from "./words";

interface LanesTableProps {
  lanes: readonly LaneShown[];
  onSelect: (step: string) => void;
}

export function LanesTable({ lanes, onSelect }: LanesTableProps): ReactNode {
  return (
    <div
      className="table-scroll gantt-table"
      tabIndex={0}
      role="region"
      aria-label="Time of each step"
    >
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">State</th>
            <th scope="col">Attempts</th>
            <th scope="col">Starts after</th>
            <th scope="col">Running</th>
            <th scope="col">Waits</th>
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => (
            <tr key={lane.step}>
              <th scope="row">
                <button type="button" className="plain" onClick={() => onSelect(lane.step)}>
                  {lane.step}
                </button>
              </th>
              <td>
                <StepMark status={lane.status} />
              </td>
              <td>{attemptsText(lane)}</td>
              <td>{lane.bars[0] ? duration(lane.bars[0].begin) : ""}</td>
              <td>{lane.density ? densityWords(lane) : duration(spent(lane, isWork))}</td>
              <td>{waitsText(lane)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function attemptsText(lane: LaneShown): string {
  const loop = loopText(lane);
  const errors = lane.bars.filter((bar) => bar.kind === "error").length;
  const said = [String(lane.attempts), errors > 0 && `${errors} failed`, loop];
  return said.filter(Boolean).join(" · ");
}

function spent(lane: LaneShown, counts: (kind: (typeof KINDS)[number]) => boolean): number {
  return lane.bars.reduce((sum, bar) => (counts(bar.kind) ? sum + bar.end - bar.begin : sum), 0);
}

function waitsText(lane: LaneShown): string {
  const waits = KINDS.filter((kind) => !isWork(kind)).flatMap((kind) => {
    const seconds = spent(lane, (one) => one === kind);
    return seconds > 0 ? `${duration(seconds)} ${BARS[kind]}` : [];
  });
  return waits.join(", ");
}
