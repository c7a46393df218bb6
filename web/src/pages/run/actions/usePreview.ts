// What an action would do, asked with `dry_run` whenever what is asked for has stood still a moment.

import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { inquire } from "../../../api/client";
import type { PreviewShown, RunForked } from "../../../api/types";

const STILL_MS = 350;

/** null: what is asked for cannot be sent as it is. */
export function usePreview(
  path: string,
  body: { [name: string]: unknown } | null,
): UseQueryResult<PreviewShown> & { isSettled: boolean } {
  const text = body === null ? null : JSON.stringify(body);
  const still = useStill(text);
  const found = useQuery({
    queryKey: ["run", "preview", path, still],
    queryFn: async () => {
      const asked = { ...(JSON.parse(still ?? "{}") as object), dry_run: true };
      const answer = await inquire<RunForked>(path, asked);
      if (answer.preview === undefined) throw new Error("The server sent no preview.");
      return answer.preview;
    },
    enabled: still !== null,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  return { ...found, isSettled: text === still && !found.isFetching };
}

function useStill(text: string | null): string | null {
  const [still, setStill] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setStill(text), STILL_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return still;
}
