// The run at a glance: its graph, its lanes over time, and the step someone chose.

import type { ReactNode } from "react";

import type { RunPicture, WaitShown } from "../../../api/types";
import { Gantt } from "../../../gantt/Gantt";
import { FlowGraph } from "../../../graph/FlowGraph";
import type { Show, Shown } from "../shown";
import { hasEnded } from "../useRun";
import { StepPanel } from "./StepPanel";

interface OverviewProps {
  picture: RunPicture;
  shown: Shown;
  show: Show;
  onSkip: (wait: WaitShown) => void;
  onRetry: (step: string) => void;
}

export default function Overview({
  picture,
  shown,
  show,
  onSkip,
  onRetry,
}: OverviewProps): ReactNode {
  const { graph, lanes } = picture;
  const choose = (step: string | null): void => show({ step });
  const isLive = shown.at === null && !hasEnded(picture.status);
  return (
    <div className={shown.step === null ? "run-overview" : "run-overview has-step"}>
      <div className="run-graph">
        {graph === null ? (
          <p className="soft">The document of this run is not here any more.</p>
        ) : (
          <FlowGraph graph={graph} selected={shown.step} onSelect={choose} />
        )}
      </div>
      {shown.step !== null && (
        <StepPanel
          picture={picture}
          step={shown.step}
          at={shown.at}
          show={show}
          onSkip={onSkip}
          onRetry={onRetry}
        />
      )}
      <div className="run-gantt">
        <Gantt
          lanes={lanes}
          now={isLive ? picture.now : null}
          selected={shown.step}
          onSelect={choose}
          onAttempt={(step, number, visit) =>
            show({ tab: "attempts", step, visit, number, attempt: null })
          }
        />
      </div>
    </div>
  );
}
