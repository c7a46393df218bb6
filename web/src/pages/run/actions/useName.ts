// Who acts, for the log: said once, kept by this browser.

import { useState } from "react";

const KEPT = "anew.by";

export function useName(): [string, (name: string) => void] {
  const [name, setName] = useState(() => localStorage.getItem(KEPT) ?? "");
  const keep = (text: string): void => {
    localStorage.setItem(KEPT, text);
    setName(text);
  };
  return [name, keep];
}
