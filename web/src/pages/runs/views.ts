// Filters with a name. Three are built in; those people save stay in this browser.

import { useSyncExternalStore } from "react";

import { filterIn, queryText } from "./filter";

export interface View {
  name: string;
  /** The query of the address. */
  query: string;
}

const KEPT = "anew.views";
export const VIEWS_MAX = 50;
export const VIEW_NAME_CHARACTERS_MAX = 60;

export const BUILT_IN: readonly View[] = [
  { name: "All runs", query: "" },
  { name: "Needs attention", query: "state=person&state=failed&state=dead" },
  { name: "Retrying now", query: "state=retrying" },
  { name: "Last 24 hours", query: "since=24h" },
];

const listeners = new Set<() => void>();
let cached: { text: string | null; views: readonly View[] } = { text: null, views: [] };

function isView(value: unknown): value is View {
  if (typeof value !== "object" || value === null) return false;
  return (
    "name" in value &&
    typeof value.name === "string" &&
    "query" in value &&
    typeof value.query === "string"
  );
}

/** Whatever stands in the browser's storage, the views that are in it. */
export function viewsIn(text: string | null): readonly View[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter(isView).slice(0, VIEWS_MAX) : [];
  } catch {
    return [];
  }
}

function kept(): readonly View[] {
  const text = localStorage.getItem(KEPT);
  if (text !== cached.text) cached = { text, views: viewsIn(text) };
  return cached.views;
}

function keep(views: readonly View[]): void {
  localStorage.setItem(KEPT, JSON.stringify(views.slice(0, VIEWS_MAX)));
  for (const listener of listeners) listener();
}

/** A view of the same name is replaced. */
export function saveView(view: View): void {
  keep([view, ...kept().filter((one) => one.name !== view.name)]);
}

export function removeView(name: string): void {
  keep(kept().filter((one) => one.name !== name));
}

/** Whether an address shows this view, in whatever order its words are. */
export function isShown(view: View, query: string): boolean {
  return queryText(filterIn(new URLSearchParams(view.query))) === query;
}

export function useViews(): readonly View[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    window.addEventListener("storage", listener);
    return () => {
      listeners.delete(listener);
      window.removeEventListener("storage", listener);
    };
  }, kept);
}
