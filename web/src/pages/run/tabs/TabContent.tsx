// What each tab of a run shows.

import { lazy, Suspense, type ReactNode } from "react";

import type { RunPicture, WaitShown } from "../../../api/types";
import { Loading } from "../../../parts/Notice";
import { Attempts } from "../attempts/Attempts";
import type { EventLogState } from "../eventLog";
import { EventLog } from "../events/EventLog";
import type { Show, Shown } from "../shown";
import { DataTab } from "./DataTab";
import { RulesTab } from "./RulesTab";
import { SourceTab } from "./SourceTab";
import { StepChoice } from "./StepChoice";
import { TestTab } from "./TestTab";
import { WhyTab } from "./WhyTab";

// Drawing is the larger part of the page: it is fetched beside the picture, not before it.
const drawing = import("./Overview");
const Overview = lazy(() => drawing);

interface TabContentProps {
  run: string;
  /** As of the moment looked at. */
  picture: RunPicture;
  live: RunPicture;
  log: EventLogState;
  shown: Shown;
  show: Show;
  onSkip: (wait: WaitShown) => void;
  onRetry: (step: string) => void;
}

export function TabContent(props: TabContentProps): ReactNode {
  const { run, picture, live, log, shown, show } = props;
  const { step, at } = shown;
  const choice = <StepChoice picture={live} step={step} show={show} />;
  switch (shown.tab) {
    case "overview":
      return (
        <Suspense fallback={<Loading what="the graph" />}>
          <Overview {...props} />
        </Suspense>
      );
    case "attempts":
      return (
        <>
          {choice}
          <Attempts run={run} step={step} attempt={shown.attempt} events={live.events} />
        </>
      );
    case "events":
      return (
        <>
          {choice}
          <EventLog run={run} log={log} step={step} at={at} />
        </>
      );
    case "data":
      return <DataTab picture={picture} live={live} at={at} />;
    case "rules":
      return (
        <>
          {choice}
          <RulesTab picture={picture} step={step} show={show} />
        </>
      );
    case "source":
      return <SourceTab picture={picture} shown={shown} show={show} />;
    case "why":
      return <WhyTab picture={live} shown={shown} show={show} />;
    case "test":
      return <TestTab picture={live} />;
  }
}
