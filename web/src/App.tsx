// The frame around every page, and which page an address names.

import { lazy, Suspense, useEffect, useRef, type ReactNode } from "react";

import { placeOf, titleOf } from "./areas";
import { useNeedsToken } from "./api/token";
import { Loading, Notice } from "./parts/Notice";
import { Side } from "./parts/Side";
import { TokenAsked } from "./parts/TokenAsked";
import { Link, usePath } from "./router";

const Runs = lazy(() => import("./pages/runs/RunsPage"));
const Run = lazy(() => import("./pages/run/RunPage"));
const Programs = lazy(() => import("./pages/programs/ProgramsPage"));
const Program = lazy(() => import("./pages/programs/ProgramPage"));
const Failures = lazy(() => import("./pages/failures/FailuresPage"));
const People = lazy(() => import("./pages/people/PeoplePage"));
const Workers = lazy(() => import("./pages/workers/WorkersPage"));

function pageAt(path: string): ReactNode {
  const [area, name] = placeOf(path);
  if (area === "runs" && name === "") return <Runs />;
  if (area === "runs") return <Run key={name} run={name} />;
  if (area === "programs" && name === "") return <Programs />;
  if (area === "programs") return <Program key={name} name={name} />;
  if (name !== "") return <NotHere path={path} />;
  if (area === "failures") return <Failures />;
  if (area === "people") return <People />;
  if (area === "workers") return <Workers />;
  return <NotHere path={path} />;
}

function NotHere({ path }: { path: string }): ReactNode {
  return (
    <Notice tone="late">
      There is no page at {path}. <Link to="/">All runs</Link>
    </Notice>
  );
}

export function App(): ReactNode {
  const path = usePath();
  const needsToken = useNeedsToken();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  // Whoever cannot see the page change hears where they are now.
  useEffect(() => {
    if (shown.current !== path) main.current?.focus();
    shown.current = path;
  }, [path]);
  return (
    <div className="frame">
      <title>{`${needsToken ? "Token" : titleOf(path)} · Anew`}</title>
      <a className="skip-link" href="#main">
        Skip to the page
      </a>
      <Side path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        {needsToken ? (
          <TokenAsked />
        ) : (
          <Suspense fallback={<Loading what="the page" />}>{pageAt(path)}</Suspense>
        )}
      </main>
    </div>
  );
}
