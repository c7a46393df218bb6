// Run now: end the wait of one step-run, or all that the run has.

import { useState, type ReactNode } from "react";

import type { Changed, RunPicture, WaitShown } from "../../../api/types";
import { option } from "../../../parts/Commands";
import { counted } from "../../../words/time";
import { place } from "../Kin";
import { runPath } from "../useRun";
import { skipWord, waitKey } from "../Waits";
import { ActionDialog } from "./ActionDialog";
import { LogField } from "./LogField";
import { useName } from "./useName";

const ALL = "all";

interface SkipDialogProps {
  picture: RunPicture;
  /** The wait it was opened for. */
  wait: WaitShown | null;
  onDone: (said: ReactNode) => void;
  onClose: () => void;
}

export function SkipDialog({ picture, wait, onDone, onClose }: SkipDialogProps): ReactNode {
  const able = picture.waits.filter((one) => one.can_skip);
  const alone = able.length === 1 ? able[0] : undefined;
  const first = wait ?? alone;
  const [chosen, setChosen] = useState(first === undefined ? ALL : waitKey(first));
  const [by, setBy] = useName();
  // A wait that has ended by itself meanwhile stays chosen: the server says that it has.
  const one = [...able, ...(wait ? [wait] : [])].find((found) => waitKey(found) === chosen);
  return (
    <ActionDialog<Changed>
      title={one === undefined ? "Skip all waits" : skipWord(one)}
      command={commandOf(picture.run, one, by.trim())}
      confirm={one === undefined ? "Skip all waits" : skipWord(one)}
      onClose={onClose}
      onDone={({ changed }) => onDone(changed ? done(one) : "Nothing was waiting any more.")}
    >
      {able.length > 1 && (
        <label className="field">
          Which wait
          <select value={chosen} onChange={(event) => setChosen(event.target.value)}>
            <option value={ALL}>all {counted(able.length + picture.more_waits, "wait")}</option>
            {able.map((found) => (
              <option key={waitKey(found)} value={waitKey(found)}>
                {place(found.step, found.iteration)}: {found.headline}
              </option>
            ))}
          </select>
        </label>
      )}
      <p>{will(one)}</p>
      {picture.status === "paused" && (
        <p>The run is paused: nothing starts before it is resumed.</p>
      )}
      <LogField label="Your name, for the log" value={by} onChange={setBy} />
    </ActionDialog>
  );
}

function commandOf(run: string, wait: WaitShown | undefined, by: string) {
  const name = by ? { by } : {};
  const words = by ? option("--by", by) : [];
  const head = { method: "POST", path: `${runPath(run)}/skip` } as const;
  if (wait === undefined) return { ...head, cli: ["skip", run, ...words], body: name };
  const { step, visit, iteration } = wait;
  const which = iteration === null ? [] : ["--iteration", String(iteration)];
  return {
    ...head,
    cli: ["skip", run, step, "--visit", String(visit), ...which, ...words],
    body: { step, visit, ...(iteration === null ? {} : { iteration }), ...name },
  };
}

function will(wait: WaitShown | undefined): string {
  if (wait === undefined)
    return "Every delay of a retry or a jump ends now, and so does every sleep.";
  const name = place(wait.step, wait.iteration);
  if (wait.doing === "sleep") return `The sleep of ${name} ends now, with its ordinary result.`;
  if (wait.doing === "poll") return `${name} looks again now. Its limits stay as they are.`;
  if (wait.doing === "jump") return `${name} continues now. Its limits stay as they are.`;
  return `Attempt ${wait.attempt} of ${name} starts now. Its number and its limits stay as they are.`;
}

function done(wait: WaitShown | undefined): string {
  return wait === undefined ? "The waits were ended." : `${wait.step} continues now.`;
}
