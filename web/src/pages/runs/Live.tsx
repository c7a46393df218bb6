// Whether what is shown is what is.

import type { ReactNode } from "react";

import type { Liveness } from "./live";

const WORDS: { [liveness in Liveness]: string } = {
  connecting: "connecting …",
  open: "live",
  broken: "reconnecting …",
  over: "not live",
  refused: "not live",
};

export function Live({ liveness }: { liveness: Liveness }): ReactNode {
  return (
    <span className={`runs-live is-${liveness}`} role="status">
      {WORDS[liveness]}
    </span>
  );
}
