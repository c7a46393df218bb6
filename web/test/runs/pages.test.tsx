import { act, renderHook, waitFor } from "@testing-library/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { describe, expect, it } from "vitest";

import { EVERYTHING } from "../../src/pages/runs/filter";
import { linked, PAGE_ROWS, PAGES_KEPT_MAX, rowsOf, useRunPages } from "../../src/pages/runs/pages";
import { run, serve } from "./fixtures";

describe("the start of pages", () => {
  it("grow by what a page says", () => {
    expect(linked([null], 0, "90")).toEqual([null, "90"]);
    expect(linked([null, "90"], 1, null)).toEqual([null, "90"]);
  });

  it("stay as they are while a page says the same", () => {
    const known = [null, "90", "80"];
    expect(linked(known, 0, "90")).toBe(known);
  });

  it("are forgotten below a page that ends elsewhere now", () => {
    expect(linked([null, "90", "80", "70"], 0, "95")).toEqual([null, "95"]);
    expect(linked([null, "90", "80"], 1, null)).toEqual([null, "90"]);
  });
});

it("a page that was let go keeps the places of its rows", () => {
  const rows = rowsOf(3, 1, [[run(1)], undefined]);
  expect(rows.slice(0, PAGE_ROWS).every((row) => row === null)).toBe(true);
  expect(rows[PAGE_ROWS]).toEqual(run(1));
});

describe("100,000 runs", () => {
  const total = 100_000;
  const answers = {
    "GET /api/v1/runs": (asked: URL) => {
      const before = asked.searchParams.get("before");
      const top = before === null ? total : Number(BigInt(before) - BigInt(run(0).run));
      const limit = Number(asked.searchParams.get("limit"));
      const runs = Array.from({ length: Math.min(limit, top) }, (_, at) => run(top - 1 - at));
      return { runs, next: runs.length === limit ? (runs.at(-1)?.run ?? null) : null };
    },
  };

  it("are scrolled through with only some pages held", async () => {
    serve(answers);
    const client = new QueryClient();
    const { result } = renderHook(() => useRunPages(EVERYTHING), {
      wrapper: ({ children }) => (
        <QueryClientProvider client={client}>{children}</QueryClientProvider>
      ),
    });
    const pages = 60;
    for (let page = 0; page < pages; page++) {
      const last = (page + 1) * PAGE_ROWS - 1;
      await waitFor(() => expect(result.current.rows[last]).toEqual(run(total - 1 - last)));
      act(() => result.current.onRange(last - 10, last));
    }
    const held = client.getQueryCache().findAll({ queryKey: ["runs", "page"] });
    expect(held.length).toBeLessThanOrEqual(PAGES_KEPT_MAX + 4);
    expect(result.current.rows.length).toBeGreaterThanOrEqual(pages * PAGE_ROWS);
    // Back at the top, what was let go comes again in its place.
    expect(result.current.rows[0]).toBeNull();
    act(() => result.current.onRange(0, 10));
    await waitFor(() => expect(result.current.rows[0]).toEqual(run(total - 1)));
  });
});
