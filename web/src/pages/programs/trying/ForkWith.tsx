// Fork a run under the document that was tried: with first a look at what is kept and done again.

import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { get } from "../../../api/client";
import type { RunPicture, StartedRun } from "../../../api/types";
import { Failure, Loading } from "../../../parts/Notice";
import { go } from "../../../router";
import { ActionDialog } from "../../run/actions/ActionDialog";
import { Foreseen } from "../../run/actions/Foreseen";
import { usePreview } from "../../run/actions/usePreview";
import "../../run/run.css";
import { runPath } from "../../run/useRun";
import { lastPart, sourceBody, type Source } from "../source";
import type { RunPlayed } from "./report";

interface ForkWithProps {
  played: RunPlayed;
  source: Source;
  onClose: () => void;
}

export function ForkWith({ played, source, onClose }: ForkWithProps): ReactNode {
  const found = useQuery({
    queryKey: ["programs", "picture", played.run],
    queryFn: ({ signal }) => get<RunPicture>(`${runPath(played.run)}/picture`, {}, signal),
  });
  if (found.data === undefined) {
    return found.error ? <Failure error={found.error} /> : <Loading what="the run" />;
  }
  return <Asked picture={found.data} {...{ played, source, onClose }} />;
}

/** The step to begin with: the one that failed, else the one where it goes another way. */
export function firstStep(picture: RunPicture, played: RunPlayed): string | null {
  const differs = played.differs?.place.replace(/[#[].*$/, "");
  const reached = stepsOf(picture);
  return picture.failed_step ?? reached.find((step) => step === differs) ?? reached[0] ?? null;
}

function stepsOf(picture: RunPicture): string[] {
  const nodes = picture.graph?.nodes.filter((node) => node.visits > 0) ?? [];
  return nodes.map((node) => node.name);
}

function Asked({ picture, played, source, onClose }: ForkWithProps & { picture: RunPicture }) {
  const [step, setStep] = useState(firstStep(picture, played));
  const path = `${runPath(picture.run)}/fork`;
  const body = { ...(step === null ? {} : { step }), ...sourceBody(source) };
  const found = usePreview(path, body);
  const isFit = found.isSettled && !found.isError && found.data?.misfits.length === 0;
  const steps = [...new Set([...(step === null ? [] : [step]), ...stepsOf(picture)])];
  const from = step === null ? [] : ["--from", step];
  const file = lastPart(source.file ?? "FILE");
  return (
    <ActionDialog<StartedRun>
      title={`Fork run ${picture.run} with this policy`}
      command={{
        cli: ["fork", picture.run, ...from, "--program", file],
        method: "POST",
        path,
        body,
      }}
      confirm="Start the new run"
      isBlocked={!isFit}
      onDone={({ run }) => go(`/runs/${run}`)}
      onClose={onClose}
    >
      <p>
        A new run continues under the changed document. It calls what it calls: this is not a
        simulation.
      </p>
      {steps.length > 0 && (
        <label className="field">
          Start with the latest visit of
          <select value={step ?? ""} onChange={(event) => setStep(event.target.value)}>
            {steps.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <Foreseen found={found} />
    </ActionDialog>
  );
}
