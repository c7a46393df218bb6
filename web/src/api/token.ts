// The server's token, for as long as this tab lives. It comes from the person who is asked for it, or
// in the fragment of an address (`/#token=…`), which no server is sent.

import { useSyncExternalStore } from "react";

const KEPT = "anew.token";
const listeners = new Set<() => void>();
let isRefused = false;
let isWrong = false;

function told(): void {
  for (const listener of listeners) listener();
}

/** Take a token out of the address, so that nobody copies it with the link. */
export function takeToken(place: Location, history: History): void {
  const found = new URLSearchParams(place.hash.slice(1)).get("token");
  if (found === null) return;
  sessionStorage.setItem(KEPT, found);
  history.replaceState(null, "", place.pathname + place.search);
}

export function token(): string | null {
  return sessionStorage.getItem(KEPT);
}

export function keepToken(text: string): void {
  sessionStorage.setItem(KEPT, text);
  isRefused = false;
  isWrong = false;
  told();
}

export function forgetToken(): void {
  // Several answers may refuse one token: only the first of them finds it here.
  isWrong ||= token() !== null;
  sessionStorage.removeItem(KEPT);
  isRefused = true;
  told();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the server has asked for a token, or for another than the one it was shown. */
export function useNeedsToken(): boolean {
  return useSyncExternalStore(subscribe, () => isRefused);
}

/** Whether it was shown one that is not its own. */
export function useTokenWasWrong(): boolean {
  return useSyncExternalStore(subscribe, () => isWrong);
}
