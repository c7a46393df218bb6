// The server's token, for as long as this tab lives. It comes from the person who is asked for it, or
// in the fragment of an address (`/#token=…`), which no server is sent.

import { useSyncExternalStore } from "react";

const KEPT = "anew.token";
// What a header can carry; no server has another token.
const POSSIBLE = /^[\x21-\x7e]+$/;
const listeners = new Set<() => void>();
let isRefused = false;
let isWrong = false;

function notify(): void {
  for (const listener of listeners) listener();
}

/** The token in a fragment; null when there is none. A plus is a plus there, and not a space. */
function tokenIn(fragment: string): string | null {
  return new URLSearchParams(fragment.slice(1).replaceAll("+", "%2B")).get("token");
}

/** Take a token out of the address, so that nobody copies it with the link. Whether there was one. */
export function takeToken(place: Location, history: History): boolean {
  const found = tokenIn(place.hash);
  if (found === null) return false;
  // First of all: whatever goes wrong after this, the address holds no token any more. The origin
  // is part of it because a path may begin with two slashes, and would then name another host.
  history.replaceState(null, "", place.origin + place.pathname + place.search);
  if (POSSIBLE.test(found)) keepToken(found);
  return true;
}

export function token(): string | null {
  return sessionStorage.getItem(KEPT);
}

export function keepToken(text: string): void {
  sessionStorage.setItem(KEPT, text);
  isRefused = false;
  isWrong = false;
  notify();
}

export function forgetToken(): void {
  // Several answers may refuse one token: only the first of them finds it here.
  isWrong ||= token() !== null;
  sessionStorage.removeItem(KEPT);
  isRefused = true;
  notify();
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
