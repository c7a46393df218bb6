// The page of one program: its document, versions, worst case, coverage, and ways to start it or to
// try another policy on its runs. What is shown is in the address.

import type { ReactNode } from "react";

import { ApiProblem } from "../../api/client";
import type { ProgramShown } from "../../api/types";
import { Failure, Loading, Notice } from "../../parts/Notice";
import { Tabs } from "../../parts/Tabs";
import { Link } from "../../router";
import { EVERYTHING, runsAddress } from "../runs/filter";
import { BoundsTab } from "./bounds/BoundsTab";
import { CoverageTab } from "./coverage/CoverageTab";
import { DocumentTab } from "./document/DocumentTab";
import { ProgramHead } from "./ProgramHead";
import "./programs.css";
import { useProgram } from "./queries";
import { TABS, useShown, type Shown, type Show } from "./shown";
import { StartTab } from "./start/StartTab";
import { TryRun, TryTab } from "./trying/TryTab";
import { useLiveCounts } from "./useLiveCounts";
import { VersionsTab } from "./versions/VersionsTab";

export default function ProgramPage({ name }: { name: string }): ReactNode {
  const [shown, show] = useShown();
  const { data, error } = useProgram(name, shown.version);
  useLiveCounts();
  if (data === undefined) return <NotYet name={name} error={error} tried={shown.tried} />;
  return (
    <>
      <ProgramHead program={data} shown={shown} />
      {error !== null && <Failure error={error} />}
      <Tabs
        label="Parts of the program"
        tabs={TABS.map(([id, word]) => ({ id, name: word }))}
        current={shown.tab}
        onChange={(tab) => show({ tab: TABS.find(([id]) => id === tab)?.[0] ?? "document" })}
      >
        <TabContent key={data.version} program={data} shown={shown} show={show} />
      </Tabs>
    </>
  );
}

interface TabContentProps {
  program: ProgramShown;
  shown: Shown;
  show: Show;
}

function TabContent({ program, shown, show }: TabContentProps): ReactNode {
  switch (shown.tab) {
    case "document":
      return <DocumentTab program={program} shown={shown} show={show} />;
    case "versions":
      return <VersionsTab program={program} shown={shown} show={show} />;
    case "bounds":
      return <BoundsTab program={program} />;
    case "coverage":
      return <CoverageTab program={program} line={shown.line} />;
    case "start":
      return <StartTab program={program} isNewest={shown.version === null} />;
    case "try":
      return <TryTab program={program} run={shown.tried} />;
  }
}

interface NotYetProps {
  name: string;
  error: Error | null;
  tried: string | null;
}

/** A program that was only run, never registered, still has runs to try something on. */
function NotYet({ name, error, tried }: NotYetProps): ReactNode {
  const isUnknown = error instanceof ApiProblem && error.status === 404;
  return (
    <>
      <h1>{name}</h1>
      {error === null && <Loading what="the program" />}
      {error !== null && !isUnknown && <Failure error={error} />}
      {isUnknown && (
        <Notice tone="late">
          {error.message}. <Link to={runsAddress({ ...EVERYTHING, program: name })}>Its runs</Link>{" "}
          · <Link to="/programs?register=yes">Register a document</Link>
        </Notice>
      )}
      {isUnknown && tried !== null && <TryRun run={tried} />}
    </>
  );
}
