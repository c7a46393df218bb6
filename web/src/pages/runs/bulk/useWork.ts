// The work of a bulk action while its dialog is open: page after page, until it is told to stop.

import { useEffect, useRef, useState } from "react";

import type { BulkAction } from "../../../api/types";
import { advanced, started, type Meant, type Progress } from "./bulk";

export interface Work {
  /** Null: not started. */
  progress: Progress | null;
  isWorking: boolean;
  error: unknown;
  start: (action: BulkAction, meant: Meant, reason: string) => void;
  /** After the request that is under way. */
  stop: () => void;
  goOn: () => void;
}

export function useWork(): Work {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [isWorking, setWorking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isWanted = useRef(false);
  useEffect(() => () => void (isWanted.current = false), []);
  const work = async (from: Progress): Promise<void> => {
    isWanted.current = true;
    setWorking(true);
    setError(null);
    setProgress(from);
    let now = from;
    try {
      while (isWanted.current && now.left.length > 0) {
        now = await advanced(now);
        setProgress(now);
      }
    } catch (problem) {
      setError(problem);
    }
    setWorking(false);
  };
  return {
    progress,
    isWorking,
    error,
    start: (action, meant, reason) => void work(started(action, meant, reason)),
    stop: () => void (isWanted.current = false),
    goOn: () => progress !== null && void work(progress),
  };
}
