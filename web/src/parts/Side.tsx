// The way to every page, and light or dark.

import type { ReactNode } from "react";

import { Link } from "../router";
import { useScheme } from "./scheme";

const AREAS = [
  ["runs", "Runs"],
  ["failures", "Failures"],
  ["people", "People"],
  ["programs", "Programs"],
  ["workers", "Workers"],
] as const;

export function Side({ path }: { path: string }): ReactNode {
  const [scheme, choose] = useScheme();
  const area = path.split("/")[1] || "runs";
  const other = scheme === "dark" ? "light" : "dark";
  return (
    <header className="side">
      <Link to="/" className="brand" label="Anew: all runs">
        <img src="/favicon.svg" alt="" width="24" height="24" />
        <span>Anew</span>
      </Link>
      <nav aria-label="Pages">
        {AREAS.map(([word, name]) => (
          <Link key={word} to={word === "runs" ? "/" : `/${word}`} isCurrent={word === area}>
            {name}
          </Link>
        ))}
      </nav>
      <div className="side-foot">
        <button type="button" className="small" onClick={() => choose(other)}>
          {other === "dark" ? "Dark" : "Light"}
        </button>
      </div>
    </header>
  );
}
