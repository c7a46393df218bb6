// One step of the run: how it stands, what it waits for, and why.

import type { ReactNode } from "react";

import type { NodeShown, RunPicture, WaitShown } from "../../../api/types";
import { StepMark } from "../../../parts/Mark";
import { Failure, Loading } from "../../../parts/Notice";
import { counted } from "../../../words/time";
import { PAST_REASON } from "../actions/ActionBar";
import type { Show } from "../shown";
import { WaitLine, waitKey } from "../Waits";
import { Paragraphs } from "./Paragraphs";
import { asOf, useExplanation } from "./useExplanation";

const WAITS_SHOWN = 5;

interface StepPanelProps {
  picture: RunPicture;
  step: string;
  at: number | null;
  show: Show;
  onSkip: (wait: WaitShown) => void;
  onRetry: (step: string) => void;
}

export function StepPanel(props: StepPanelProps): ReactNode {
  const { picture, step, at, show } = props;
  const node = picture.graph?.nodes.find((found) => found.name === step);
  const waits = picture.waits.filter((wait) => wait.step === step);
  return (
    <section className="sheet stack run-step" aria-label={`Step ${step}`}>
      <div className="row run-step-head">
        <h2>{step}</h2>
        {node?.status && <StepMark status={node.status} />}
        <button type="button" className="plain run-step-close" onClick={() => show({ step: null })}>
          Close
        </button>
      </div>
      {node === undefined ? (
        <p className="soft">This program has no step of this name.</p>
      ) : (
        <Counts node={node} />
      )}
      {waits.slice(0, WAITS_SHOWN).map((wait) => (
        <WaitLine
          key={waitKey(wait)}
          wait={wait}
          now={at === null ? null : picture.now}
          show={show}
          onSkip={props.onSkip}
        />
      ))}
      <div className="row small">
        <button type="button" onClick={() => show({ tab: "attempts" })}>
          Attempts
        </button>
        <button type="button" onClick={() => show({ tab: "events" })}>
          Events
        </button>
        {node?.line != null && (
          <button type="button" onClick={() => show({ tab: "source", line: node.line })}>
            Line {node.line}
          </button>
        )}
        {node !== undefined && node.visits > 0 && (
          <button
            type="button"
            disabled={at !== null}
            title={at === null ? undefined : PAST_REASON}
            onClick={() => props.onRetry(step)}
          >
            Retry from here …
          </button>
        )}
      </div>
      <Why picture={picture} step={step} at={at} show={show} />
    </section>
  );
}

function Counts({ node }: { node: NodeShown }): ReactNode {
  const { loop } = node;
  return (
    <div className="small stack run-counts">
      {node.status === null ? (
        <p className="soft">Not reached.</p>
      ) : (
        <p>
          {counted(node.visits, "visit")}, {counted(node.attempts, "attempt")}
          {node.retries > 0 && `, ${counted(node.retries, "retry", "retries")}`}
          {node.attempt !== null && `, now attempt ${node.attempt}`}
          {node.attempt !== null && node.attempts_max !== null && ` of ${node.attempts_max}`}
        </p>
      )}
      {loop !== null && (
        <p>
          <meter
            min={0}
            max={Math.max(1, loop.total)}
            value={loop.done}
            aria-label="Iterations done"
          />{" "}
          {loop.done.toLocaleString("en")} of {counted(loop.total, "iteration")} done
          {loop.failed > 0 && `, ${loop.failed.toLocaleString("en")} failed`}
        </p>
      )}
      {node.trouble !== null && <p className="run-trouble">{node.trouble}</p>}
    </div>
  );
}

type WhyProps = Pick<StepPanelProps, "picture" | "step" | "at" | "show">;

function Why({ picture, step, at, show }: WhyProps): ReactNode {
  const found = useExplanation(picture, step);
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="why" />;
  }
  return (
    <div className="run-step-why small">
      <h3>Why</h3>
      <Paragraphs found={asOf(found.data.paragraphs, at)} show={show} />
    </div>
  );
}
