// Where a fork begins: after an event, or with a step again.

import type { ReactNode } from "react";

import type { RunPicture } from "../../../api/types";
import type { ForkWanted } from "./forkWords";
import { stepsOf } from "./RetryDialog";

export type Cut = Pick<ForkWanted, "at" | "step">;

interface CutChoiceProps {
  picture: RunPicture;
  cut: Cut;
  onChange: (cut: Cut) => void;
}

export function CutChoice({ picture, cut, onChange }: CutChoiceProps): ReactNode {
  const { events, failed_step: failed } = picture;
  const asked = (text: string): Cut => ({ at: text === "" ? null : Number(text), step: null });
  return (
    <>
      <label className="field">
        Start
        <select
          value={cut.step ?? ""}
          onChange={({ target }) => onChange({ ...cut, step: target.value || null })}
        >
          <option value="">after an event</option>
          {stepsOf(picture).map((name) => (
            <option key={name} value={name}>
              with the latest visit of {name}
              {name === failed && " (it failed)"}
            </option>
          ))}
        </select>
      </label>
      {cut.step === null && (
        <label className="field">
          Share the log up to event (of {events.toLocaleString("en")})
          <input
            type="number"
            min={1}
            max={events}
            placeholder="the newest"
            value={cut.at ?? ""}
            onChange={({ target }) => onChange(asked(target.value))}
          />
        </label>
      )}
    </>
  );
}
