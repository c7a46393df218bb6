// The shape of a family of events.

import type { ReactNode } from "react";

import type { Family } from "./families";

const PATHS: { [family in Family]: string } = {
  run: "M4 14V2.5h8.5L10 6l2.5 3.5H4",
  step: "M3 3.5h10v9H3Z",
  task: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3Z",
  loop: "M3.5 9.5A4.7 4.7 0 0 0 12.4 10M12.5 6.5A4.7 4.7 0 0 0 3.6 6M12.5 3v3.5H9M3.5 13V9.5H7",
  next: "M2.5 8h10.5M9 4l4 4-4 4",
  gate: "M3.5 2.5v11M12.5 2.5v11M3.5 8h9",
  branch: "M4 2.5v11M4 10c0-3.5 8-2 8-6.5M9.8 5.5 12 3l2.2 2.5",
  human: "M8 8a2.6 2.6 0 1 0 0-5.2A2.6 2.6 0 0 0 8 8M3 14c.4-3 2.4-4.3 5-4.3s4.6 1.3 5 4.3",
  signal: "M8 9.5V13.5M5 6.5a4 4 0 0 1 6 0M2.5 4a7.5 7.5 0 0 1 11 0",
  wait: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5V8.3L10.2 9.5",
};
const OTHER = "M8 3 13 8 8 13 3 8Z";

export function FamilyIcon({ family }: { family: Family | null }): ReactNode {
  return (
    <svg
      className="events-icon"
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
    >
      <path
        d={family === null ? OTHER : PATHS[family]}
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
