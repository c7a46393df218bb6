// The page of a run against a server that is pretended.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import { vi } from "vitest";

import type { RunPicture } from "../../src/api/types";
import { noteServerTime } from "../../src/parts/Time";
import RunPage from "../../src/pages/run/RunPage";
import { Pretended } from "./pretended";
import { RUN } from "./pictured";

// What draws has its own tests; here it only has to be told the right things.
vi.mock("../../src/graph/FlowGraph", () => ({
  FlowGraph: ({ onSelect }: { onSelect: (step: string) => void }) => (
    <button type="button" onClick={() => onSelect("fetch")}>
      the graph
    </button>
  ),
}));
vi.mock("../../src/gantt/Gantt", () => ({
  Gantt: ({ onAttempt }: { onAttempt: (step: string, number: number, visit: number) => void }) => (
    <button type="button" onClick={() => onAttempt("fetch", 3, 2)}>
      a bar
    </button>
  ),
}));

// A box of jsdom is shown by nothing.
HTMLDialogElement.prototype.showModal = function showModal(): void {
  this.open = true;
};
HTMLDialogElement.prototype.close = function close(): void {
  this.open = false;
};

export function serverOf(live: RunPicture | (() => RunPicture)): Pretended {
  const now = typeof live === "function" ? live : () => live;
  return new Pretended()
    .on(/\/picture$/, (url) => {
      const at = url.searchParams.get("at");
      return at === null ? now() : { ...now(), at: Number(at) };
    })
    .on(/\/explanation$/, () => ({ paragraphs: [] }));
}

export function openPage(query = ""): void {
  history.replaceState(null, "", `/runs/${RUN}${query}`);
  noteServerTime(new Date().toISOString());
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={queries}>
      <RunPage run={RUN} />
    </QueryClientProvider>,
  );
}
