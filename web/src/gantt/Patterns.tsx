// The hatching of waits: each reason has its own lines as well as its own colour.

import type { ReactNode } from "react";

import type { BarKind } from "../api/types";
import { isWork } from "./bars";

// In a square of 8 × 8.
const LINES: { [kind in BarKind]?: string } = {
  retry: "M-2 2 2 -2M0 8 8 0M6 10 10 6",
  retry_after: "M-2 6 2 10M0 0 8 8M6 -2 10 2M-2 2 2 -2M0 8 8 0M6 10 10 6",
  jump: "M-2 6 2 10M0 0 8 8M6 -2 10 2",
  poll: "M0 4H4",
  queue: "M0 2H8M0 6H8",
  sleep: "M2 2h.01M6 6h.01",
  child: "M2 0V8M6 0V8",
  person: "M-2 2 2 -2M0 8 8 0M6 10 10 6",
  signal: "M0 4H8M4 0V8",
};

export function fillOf(kind: BarKind): string | undefined {
  return isWork(kind) ? undefined : `url(#gantt-hatch-${kind})`;
}

export function Patterns(): ReactNode {
  return (
    <svg className="gantt-patterns" width="0" height="0" aria-hidden="true">
      <defs>
        {Object.entries(LINES).map(([kind, lines]) => (
          <pattern
            key={kind}
            id={`gantt-hatch-${kind}`}
            className={`gantt-hatch gantt-kind-${kind}`}
            width="8"
            height="8"
            patternUnits="userSpaceOnUse"
          >
            <rect className="gantt-hatch-ground" width="8" height="8" />
            <path className="gantt-hatch-lines" d={lines} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}
