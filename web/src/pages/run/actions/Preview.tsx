// What a fork or a retry keeps, does again, and does to the world: shown before it is started.

import type { ReactNode } from "react";

import type { EffectRow, PreviewShown } from "../../../api/types";
import { Notice } from "../../../parts/Notice";
import { counted } from "../../../words/time";
import { place } from "../Kin";

const KEYS: { [key in EffectRow["key"]]: string } = {
  none: "",
  own: ", with the idempotency key of the document",
  new: ", with another idempotency key",
};

export function Preview({ preview }: { preview: PreviewShown }): ReactNode {
  const { at, misfits, differs_at } = preview;
  return (
    <div className="run-preview" role="group" aria-label="What will happen">
      <p>
        The new run shares <strong>the first {counted(at, "event")}</strong> with this one.
      </p>
      {misfits.length > 0 && (
        <Notice tone="bad">
          <p>It cannot continue there:</p>
          <ul>
            {misfits.map((misfit, number) => (
              <li key={number}>
                {misfit.line !== null && `line ${misfit.line}: `}
                {misfit.message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {differs_at !== null && (
        <Notice tone="late">
          Under this document the run would have gone another way at event {differs_at}.
        </Notice>
      )}
      <dl className="facts small">
        <Group name="kept" lines={preview.reused.map(kept)} />
        <Group
          name="continues"
          lines={preview.again.map((one) => `${place(one.step, one.iteration)} ${one.does}`)}
        />
        <Group
          name="did later"
          lines={preview.undone.map(
            (one) => `${one.step}.${one.task}: ${counted(one.executions, "execution")}`,
          )}
        />
        <Group name="effects" lines={effects(preview)} />
        <Group name="note" lines={preview.notes} />
      </dl>
    </div>
  );
}

function Group({ name, lines }: { name: string; lines: readonly string[] }): ReactNode {
  if (lines.length === 0) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <ul className="run-lines">
          {lines.map((line, number) => (
            <li key={number}>{line}</li>
          ))}
        </ul>
      </dd>
    </>
  );
}

function kept(one: PreviewShown["reused"][number]): string {
  const visits = one.visits ? `${counted(one.visits, "visit")}, ` : "";
  return `${one.step}: ${visits}${counted(one.executions, "execution")}`;
}

function effects({ effects: found, more_effects: more }: PreviewShown): string[] {
  const lines = found.map((effect) => {
    const sure = effect.is_certain ? "again" : "probably again";
    const times = effect.times === 1 ? "" : `, ${counted(effect.times, "time")}`;
    const what = `${effect.step}.${effect.task} (${effect.kind}) ${effect.what}`;
    return `${sure}: ${what}${times}${KEYS[effect.key]}`;
  });
  return more > 0 ? [...lines, `and ${counted(more, "effect")} more`] : lines;
}
