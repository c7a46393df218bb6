// Which stretch of time is looked at. It is in the address (`span=12.5-40`), where it comes to rest:
// a wheel turns faster than a browser lets an address change.

import { useEffect, useRef, useState } from "react";

import { useWords } from "../router";
import { spanOf, spanText, type Span } from "./scale";

const REST_MS = 250;

export function useView(whole: Span): [Span, (span: Span | null) => void, boolean] {
  const [words, change] = useWords();
  // Undefined while the address says it.
  const [moving, setMoving] = useState<Span | null | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = (span: Span | null): void => {
    setMoving(span);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      change({ span: span && spanText(span) });
      setMoving(undefined);
    }, REST_MS);
  };
  const span = moving === undefined ? spanOf(words.get("span"), whole) : moving;
  return [span ?? whole, look, span !== null];
}
