// How the runs of programs stand, kept up to date: a while after something changed. Each program is
// counted by itself, so this is not done at once.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { askAgain, useChanges, type Liveness } from "../runs/live";

const COUNT_AFTER_MS = 5_000;

export function useLiveCounts(): Liveness {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const count = (): void => {
    timer.current = undefined;
    askAgain(client, "programs", "counts");
  };
  return useChanges({
    onChanges: () => undefined,
    onSlowly: () => (timer.current ??= setTimeout(count, COUNT_AFTER_MS)),
  });
}
