// All steps, or one of them.

import type { ReactNode } from "react";

import type { RunPicture } from "../../../api/types";
import { stepsOf } from "../actions/RetryDialog";
import type { Show } from "../shown";

interface StepChoiceProps {
  picture: RunPicture;
  step: string | null;
  show: Show;
}

export function StepChoice({ picture, step, show }: StepChoiceProps): ReactNode {
  const steps = stepsOf(picture);
  // A link may name a step that was not reached, or that there is not.
  const names = step === null || steps.includes(step) ? steps : [step, ...steps];
  return (
    <label className="row small">
      <span className="soft">Step</span>
      <select value={step ?? ""} onChange={(event) => show({ step: event.target.value || null })}>
        <option value="">all steps</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
