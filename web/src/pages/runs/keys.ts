// Keys that work wherever the focus is, except where people type.

import { useEffect, useEffectEvent } from "react";

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
}

/** Calls `act` for this key; the browser does not see it then. */
export function useKeys(keys: readonly string[], act: (key: string) => void): void {
  const pressed = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
    if (!keys.includes(event.key) || isTyping(event.target)) return;
    event.preventDefault();
    act(event.key);
  });
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => pressed(event);
    document.addEventListener("keydown", hear);
    return () => document.removeEventListener("keydown", hear);
  }, []);
}
