// Which page is shown, and what of it: all of it is in the address, so that a link shows the same.

import { useSyncExternalStore, type MouseEvent, type ReactNode } from "react";

const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

window.addEventListener("popstate", notify);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function go(to: string, { replaces = false }: { replaces?: boolean } = {}): void {
  if (replaces) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  notify();
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

/** The words of the query, and a way to change some of them; null takes one away. */
export function useWords(): [
  URLSearchParams,
  (changes: { [name: string]: string | readonly string[] | null }, replaces?: boolean) => void,
] {
  const text = useSyncExternalStore(subscribe, () => location.search);
  const change = (
    changes: { [name: string]: string | readonly string[] | null },
    replaces = true,
  ): void => {
    const words = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      words.delete(name);
      for (const one of typeof value === "string" ? [value] : (value ?? [])) {
        words.append(name, one);
      }
    }
    const query = words.toString();
    go(location.pathname + (query ? `?${query}` : ""), { replaces });
  };
  return [new URLSearchParams(text), change];
}

interface LinkProps {
  to: string;
  children: ReactNode;
  className?: string | undefined;
  label?: string | undefined;
  isCurrent?: boolean | undefined;
}

/** A link within the page; a new tab where the person asks for one. */
export function Link({ to, children, className, label, isCurrent }: LinkProps): ReactNode {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
      return;
    }
    event.preventDefault();
    go(to);
    window.scrollTo(0, 0);
  };
  return (
    <a
      href={to}
      onClick={follow}
      className={className}
      aria-label={label}
      aria-current={isCurrent ? "page" : undefined}
    >
      {children}
    </a>
  );
}
