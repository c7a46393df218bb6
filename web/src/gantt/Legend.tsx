// What the bars mean: only the kinds there are.

import type { ReactNode } from "react";

import type { LaneShown } from "../api/types";
import { BARS } from "../words/states";
import { isWork, kindsPresent } from "./bars";
import { fillOf } from "./Patterns";
import { KINDS } from "./words";

export function Legend({ lanes }: { lanes: readonly LaneShown[] }): ReactNode {
  const kinds = kindsPresent(lanes, KINDS);
  const hasDensity = lanes.some((lane) => lane.density !== null);
  return (
    <ul className="gantt-legend" aria-label="What the bars mean">
      {kinds.map((kind) => (
        <li key={kind}>
          <svg
            width="22"
            height="14"
            aria-hidden="true"
            className={`gantt-swatch gantt-kind-${kind}`}
          >
            <rect
              x="0.5"
              y={isWork(kind) ? 0.5 : 2}
              width="21"
              height={isWork(kind) ? 13 : 10}
              rx="2"
              fill={fillOf(kind)}
            />
          </svg>
          {BARS[kind]}
        </li>
      ))}
      {hasDensity && <DensityWords />}
    </ul>
  );
}

function DensityWords(): ReactNode {
  return ["working", "waiting", "errors"].map((part) => (
    <li key={part}>
      <svg width="22" height="14" aria-hidden="true">
        <rect
          className={`gantt-density-${part}`}
          y={part === "errors" ? 5 : 1}
          width="22"
          height="9"
        />
      </svg>
      {{ working: "how many are running", waiting: "how many wait", errors: "errors" }[part]}
    </li>
  ));
}
