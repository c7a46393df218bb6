// The parts of a filter that are added one by one, each with a way to take it away.

import { useState, type FormEvent, type ReactNode } from "react";

import { moment } from "../../words/time";
import type { Change } from "./Filters";
import { LABELS_MAX, type Filter } from "./filter";

interface ChipsProps {
  filter: Filter;
  onChange: Change;
}

export function Chips({ filter, onChange }: ChipsProps): ReactNode {
  const { since, until, fingerprint, retried, label: labels } = filter;
  return (
    <div className="runs-chips">
      {labels.map((label) => (
        <Chip
          key={label}
          text={label}
          onRemove={() => onChange({ label: labels.filter((one) => one !== label) })}
        />
      ))}
      {fingerprint !== undefined && (
        <Chip text={`failure ${fingerprint}`} onRemove={() => onChange({ fingerprint: null })} />
      )}
      {retried !== undefined && (
        <Chip
          text={retried === "true" ? "retried" : "not retried"}
          onRemove={() => onChange({ retried: null })}
        />
      )}
      {(until !== undefined || since?.includes("T")) && (
        <Chip
          text={`started ${said(since) ?? "…"} to ${said(until) ?? "now"}`}
          onRemove={() => onChange({ since: null, until: null })}
        />
      )}
    </div>
  );
}

function said(at: string | undefined): string | undefined {
  return at === undefined || Number.isNaN(Date.parse(at)) ? at : moment(at);
}

function Chip({ text, onRemove }: { text: string; onRemove: () => void }): ReactNode {
  return (
    <span className="runs-chip">
      <span className="runs-chip-text" title={text}>
        {text}
      </span>
      <button type="button" aria-label={`Remove ${text}`} onClick={onRemove}>
        ×
      </button>
    </span>
  );
}

interface LabelAskedProps {
  labels: readonly string[];
  onChange: (labels: readonly string[]) => void;
}

export function LabelAsked({ labels, onChange }: LabelAskedProps): ReactNode {
  const [draft, setDraft] = useState("");
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const label = draft.trim();
    if (!/^[^=]+=/.test(label)) return;
    setDraft("");
    if (!labels.includes(label)) onChange([...labels, label]);
  };
  return (
    <form className="runs-label-asked" onSubmit={add}>
      <label className="field">
        Label
        <input
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          placeholder="name=value, Enter"
          pattern="[^=]+=.*"
          title="name=value, then Enter"
          disabled={labels.length >= LABELS_MAX}
          autoComplete="off"
        />
      </label>
    </form>
  );
}
