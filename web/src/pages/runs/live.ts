// What changes on the server, shown as it happens, and at most once a second.

import type { QueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

import { listen, type StreamState } from "../../api/stream";
import type { RunChanges, RunText } from "../../api/types";

const PATH = "/api/v1/runs/changes";
const CHANGES_MS_MIN = 1_000;
const SLOW_CHANGES_MS_MIN = 5_000;
// More are as good as all of them.
const NAMED_MAX = 2_000;

export type Liveness = StreamState | "refused";

/** Collects changes, and passes them on: the first at once, then one in a while. */
export class Gathering {
  private runs = new Set<RunText>();
  private isAll = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private passedAt = -Infinity;

  constructor(
    private readonly onChanges: (changes: RunChanges) => void,
    private readonly milliseconds: number,
  ) {}

  add(changes: RunChanges): void {
    for (const run of changes.runs) this.runs.add(run);
    this.isAll ||= changes.is_all || this.runs.size > NAMED_MAX;
    if (this.isAll) this.runs.clear();
    if (this.timer !== undefined) return;
    const wait = Math.max(0, this.passedAt + this.milliseconds - Date.now());
    this.timer = setTimeout(() => this.pass(), wait);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private pass(): void {
    const changes = { runs: [...this.runs], is_all: this.isAll };
    this.runs.clear();
    this.isAll = false;
    this.timer = undefined;
    this.passedAt = Date.now();
    this.onChanges(changes);
  }
}

interface ChangeListener {
  onChanges: (changes: RunChanges) => void;
  /** Less often: for what costs more to ask for. */
  onSlowly?: () => void;
}

/** Calls back after changes; after a break, when any may have been missed, with all of them. */
export function useChanges(listener: ChangeListener): Liveness {
  const [liveness, setLiveness] = useState<Liveness>("connecting");
  const pass = useEffectEvent((changes: RunChanges) => listener.onChanges(changes));
  const passSlowly = useEffectEvent(() => listener.onSlowly?.());
  useEffect(() => {
    const gatherings = [
      new Gathering((changes) => pass(changes), CHANGES_MS_MIN),
      new Gathering(() => passSlowly(), SLOW_CHANGES_MS_MIN),
    ];
    const add = (changes: RunChanges): void => gatherings.forEach((one) => one.add(changes));
    let wasBroken = false;
    const stop = listen(PATH, "", {
      onMessage: (message) => add(JSON.parse(message.data) as RunChanges),
      onState: (state) => {
        setLiveness(state);
        if (state === "open" && wasBroken) add({ runs: [], is_all: true });
        wasBroken = state === "broken";
      },
      onRefused: () => setLiveness("refused"),
    });
    return () => {
      stop();
      gatherings.forEach((one) => one.stop());
    };
  }, []);
  return liveness;
}

/** Ask again for what is shown; in a tab that nobody looks at, once somebody does. */
export function askAgain(client: QueryClient, ...key: readonly string[]): void {
  const refetchType = document.hidden ? "none" : "active";
  void client.invalidateQueries({ queryKey: key, refetchType });
}
