// The page of one run: which it is, what it does and why, what can be done, and all that happened.

import { useRef, useState, type ReactNode } from "react";

import type { RunPicture, WaitShown } from "../../api/types";
import { Failure, Loading } from "../../parts/Notice";
import { Tabs } from "../../parts/Tabs";
import { Link } from "../../router";
import { ActionBar } from "./actions/ActionBar";
import type { Asked } from "./actions/asked";
import { Asking } from "./actions/Asking";
import { useKeys } from "./actions/useKeys";
import { Asks } from "./Asks";
import { Failed } from "./Failed";
import { PastBanner } from "./PastBanner";
import "./run.css";
import { RunHeader } from "./RunHeader";
import { ActionResult, type ActionText } from "./ActionResult";
import { TABS, tabNamed, useShown, type Show, type Shown } from "./shown";
import { StreamNotice } from "./StreamNotice";
import { TabContent } from "./tabs/TabContent";
import { TimeSlider } from "./TimeSlider";
import { useMoment } from "./useMoment";
import { hasEnded, useEvent, useRun, type RunKnown } from "./useRun";
import { Verdict } from "./Verdict";
import { Waits } from "./Waits";

export default function RunPage({ run }: { run: string }): ReactNode {
  const [shown, show] = useShown();
  const known = useRun(run, shown.at, shown.tab === "events");
  if (known.live === undefined) return <NotYet run={run} error={known.error} />;
  return <RunShown {...{ run, known, shown, show }} live={known.live} />;
}

function NotYet({ run, error }: { run: string; error: Error | null }): ReactNode {
  if (error === null) return <Loading what={`run ${run}`} />;
  return (
    <>
      <h1>Run {run}</h1>
      <Failure error={error} />
      <p>
        <Link to="/">All runs</Link>
      </p>
    </>
  );
}

interface RunShownProps {
  run: string;
  known: RunKnown;
  live: RunPicture;
  shown: Shown;
  show: Show;
}

function RunShown({ run, known, live, shown, show }: RunShownProps): ReactNode {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [result, setResult] = useState<ActionText | null>(null);
  const verdict = useRef<HTMLElement>(null);
  const { at } = shown;
  const isPast = at !== null;
  const picture = known.shown ?? live;
  const [moment, move] = useMoment(at, (next) => show({ at: next }));
  const past = useEvent(run, known.log, moment);
  const event = moment === null ? known.log.rows.at(-1) : past;
  useRunKeys({ live, newest: known.newest, at: moment, move, show, ask: setAsked });
  const done = (words: ReactNode): void => {
    setAsked(null);
    setResult({ words });
    known.refresh();
  };
  const closeResult = (): void => {
    setResult(null);
    verdict.current?.focus();
  };
  const skip = (wait: WaitShown): void => setAsked({ act: "skip", wait });
  return (
    <>
      <RunHeader picture={picture} isPast={isPast} />
      <StreamNotice log={known.log} error={isPast ? null : known.error} />
      {result !== null && <ActionResult result={result} onClose={closeResult} />}
      {moment !== null && (
        <PastBanner
          at={moment}
          newest={known.newest}
          picture={known.shown}
          onBack={() => move(null)}
        />
      )}
      <Verdict ref={verdict} picture={picture} isPast={isPast} show={show}>
        <Failed picture={picture} show={show} />
        <Waits picture={picture} isPast={isPast} show={show} onSkip={skip} />
        {!isPast && <Asks picture={live} onAsk={setAsked} />}
        <ActionBar picture={live} at={at} onAsk={setAsked} />
      </Verdict>
      <TimeSlider newest={known.newest} at={moment} onChange={move} event={event} />
      {isPast && known.error !== null && <Failure error={known.error} />}
      <Tabs
        label="Views of the run"
        tabs={TABS.map(([id, name]) => ({ id, name }))}
        current={shown.tab}
        onChange={(id) => show({ tab: tabNamed(id) })}
      >
        <TabContent
          {...{ run, picture, live, shown, show, log: known.log }}
          onSkip={skip}
          onRetry={(step) => setAsked({ act: "retry", step })}
        />
      </Tabs>
      {asked !== null && (
        <Asking asked={asked} picture={live} at={at} onDone={done} onClose={() => setAsked(null)} />
      )}
    </>
  );
}

interface KeysOf {
  live: RunPicture;
  newest: number;
  at: number | null;
  move: (at: number | null) => void;
  show: Show;
  ask: (asked: Asked) => void;
}

function useRunKeys({ live, newest, at, move, show, ask }: KeysOf): void {
  // What is past cannot be acted on.
  const isOpen = !hasEnded(live.status) && at === null;
  const tabs = TABS.map(([tab], index) => [String(index + 1), () => show({ tab })] as const);
  useKeys({
    ...Object.fromEntries(tabs),
    r: () => isOpen && live.waits.some((wait) => wait.can_skip) && ask({ act: "skip", wait: null }),
    p: () => isOpen && ask({ act: live.status === "paused" ? "resume" : "pause" }),
    n: () => move(null),
    "[": () => move(Math.max(1, (at ?? newest) - 1)),
    "]": () => at !== null && move(at + 1 >= newest ? null : at + 1),
    "?": () => ask({ act: "keys" }),
  });
}
