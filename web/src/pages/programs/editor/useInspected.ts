// A document looked into by the server, whenever it has stood still a moment.

import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { inquire } from "../../../api/client";
import type { Inspected } from "../../../api/types";
import { sourceBody, type Source } from "../source";

const STILL_MS = 350;

/** `isSettled`: what is shown is shown of this very text. */
export function useInspected(source: Source): UseQueryResult<Inspected> & { isSettled: boolean } {
  const text = JSON.stringify(sourceBody(source));
  const still = useStill(text);
  const found = useQuery({
    queryKey: ["programs", "inspect", still],
    queryFn: () => inquire<Inspected>("/api/v1/inspect", JSON.parse(still)),
    enabled: source.document.trim() !== "",
    placeholderData: keepPreviousData,
    // The same text is the same answer, as far as a person who edits it minds.
    staleTime: 60_000,
    gcTime: 60_000,
  });
  return { ...found, isSettled: text === still && !found.isFetching };
}

/** The text, once it has not changed for a moment; at first at once. */
export function useStill(text: string): string {
  const [still, setStill] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setStill(text), STILL_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return still;
}
