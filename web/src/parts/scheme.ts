// Light or dark: as the system says, until the person chooses.

import { useEffect, useState } from "react";

export type Scheme = "light" | "dark";
const KEPT = "anew.scheme";

function ofSystem(): Scheme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function kept(): Scheme | null {
  const found = localStorage.getItem(KEPT);
  return found === "light" || found === "dark" ? found : null;
}

export function useScheme(): [Scheme, (scheme: Scheme) => void] {
  const [scheme, setScheme] = useState<Scheme>(() => kept() ?? ofSystem());
  useEffect(() => {
    document.documentElement.dataset["scheme"] = scheme;
  }, [scheme]);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const follow = (): void => setScheme(kept() ?? ofSystem());
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  const choose = (wanted: Scheme): void => {
    localStorage.setItem(KEPT, wanted);
    setScheme(wanted);
  };
  return [scheme, choose];
}
