// The saved views, and saving what is shown as one more.

import { useState, type FormEvent, type ReactNode } from "react";

import { Link } from "../../router";
import { queryText, type Filter } from "./filter";
import {
  BUILT_IN,
  isShown,
  removeView,
  saveView,
  useViews,
  VIEW_NAME_CHARACTERS_MAX,
  VIEWS_MAX,
  type View,
} from "./views";

export function Views({ filter }: { filter: Filter }): ReactNode {
  const own = useViews();
  const query = queryText(filter);
  const isKnown = [...BUILT_IN, ...own].some((view) => isShown(view, query));
  return (
    <nav className="runs-views" aria-label="Views">
      <ul>
        {BUILT_IN.map((view) => (
          <li key={view.name}>
            <ViewLink view={view} query={query} />
          </li>
        ))}
        {own.map((view) => (
          <li key={view.name} className="runs-view-own">
            <ViewLink view={view} query={query} />
            <button
              type="button"
              aria-label={`Remove the view ${view.name}`}
              onClick={() => removeView(view.name)}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {!isKnown && own.length < VIEWS_MAX && <Saving query={query} />}
    </nav>
  );
}

function ViewLink({ view, query }: { view: View; query: string }): ReactNode {
  return (
    <Link
      to={view.query ? `/?${view.query}` : "/"}
      className="runs-view"
      isCurrent={isShown(view, query)}
    >
      {view.name}
    </Link>
  );
}

function Saving({ query }: { query: string }): ReactNode {
  const [name, setName] = useState<string | null>(null);
  if (name === null) {
    return (
      <button type="button" className="plain small" onClick={() => setName("")}>
        Save this view
      </button>
    );
  }
  const save = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === "") return;
    saveView({ name: name.trim(), query });
    setName(null);
  };
  return (
    <form className="row" onSubmit={save}>
      <input
        autoFocus
        aria-label="Name of the view"
        placeholder="name of the view"
        maxLength={VIEW_NAME_CHARACTERS_MAX}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && setName(null)}
      />
      <button type="submit">Save</button>
      <button type="button" className="plain" onClick={() => setName(null)}>
        Do not save
      </button>
    </form>
  );
}
