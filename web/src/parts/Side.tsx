// The way to every page, and light or dark.

import { useEffect, useRef, type ReactNode } from "react";

import { AREAS, placeOf } from "../areas";
import { Link } from "../router";
import { useScheme, type Scheme } from "./scheme";

export function Side({ path }: { path: string }): ReactNode {
  const [scheme, choose] = useScheme();
  const [area] = placeOf(path);
  const pages = useRef<HTMLElement>(null);
  const other = scheme === "dark" ? "light" : "dark";
  // Where not all of them fit side by side, the one that is looked at does.
  useEffect(() => {
    const current = pages.current?.querySelector("[aria-current]");
    current?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }, [area]);
  return (
    <header className="side">
      <Link to="/" className="brand" label="Anew: all runs">
        <img src="/favicon.svg" alt="" width="24" height="24" />
        <span>Anew</span>
      </Link>
      <nav aria-label="Pages" ref={pages}>
        {AREAS.map(([word, name]) => (
          <Link key={word} to={word === "runs" ? "/" : `/${word}`} isCurrent={word === area}>
            {name}
          </Link>
        ))}
      </nav>
      <div className="side-foot">
        <SchemeButton other={other} onChoose={() => choose(other)} />
      </div>
    </header>
  );
}

const DRAWN: { [scheme in Scheme]: string } = {
  dark: "M12.5 10A5.5 5.5 0 0 1 6 3.5a5.3 5.3 0 1 0 6.5 6.5Z",
  light:
    "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.2v1M8 13.8v1M1.2 8h1M13.8 8h1" +
    "M3.2 3.2l.7.7M12.1 12.1l.7.7M3.2 12.8l.7-.7M12.1 3.9l.7-.7",
};

function SchemeButton({ other, onChoose }: { other: Scheme; onChoose: () => void }): ReactNode {
  const said = `Use ${other} colours`;
  return (
    <button type="button" className="scheme" aria-label={said} title={said} onClick={onChoose}>
      <svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor">
        <path d={DRAWN[other]} strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    </button>
  );
}
