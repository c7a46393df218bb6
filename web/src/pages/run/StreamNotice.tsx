// Says that the page is not live, once that has lasted; a moment of it is nobody's concern.

import { useEffect, useState, type ReactNode } from "react";

import type { EventLogState } from "./eventLog";
import { Notice } from "../../parts/Notice";

const PATIENCE_MS = 1_500;

export function StreamNotice({ log, error }: { log: EventLogState; error: Error | null }) {
  const isLate = useLasting(log.state === "broken");
  const said = sentence(log, error, isLate);
  return said === null ? null : <Notice tone="late">{said}</Notice>;
}

function sentence(log: EventLogState, error: Error | null, isLate: boolean): ReactNode {
  if (isLate) {
    return "The server cannot be reached. This is what it said last; the page continues on its own.";
  }
  if (log.refused !== null) return `Not live: ${log.refused.message}`;
  return error === null ? null : `Not up to date: ${error.message}`;
}

function useLasting(isSo: boolean): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!isSo) return;
    const timer = setTimeout(() => setLasts(true), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setLasts(false);
    };
  }, [isSo]);
  return lasts;
}
