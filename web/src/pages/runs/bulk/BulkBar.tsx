// What can be done with the ticked runs.

import { useState, type ReactNode } from "react";

import type { BulkAction } from "../../../api/types";
import { counted } from "../../../words/time";
import type { Filter } from "../filter";
import { EVERY_MATCH, isEmpty, NOTHING, type Choice } from "../table/choice";
import type { Meant } from "./bulk";
import { BulkDialog } from "./BulkDialog";
import { ACTION_ORDER, ACTIONS } from "./words";

interface BulkBarProps {
  filter: Filter;
  choice: Choice;
  onChoose: (choice: Choice) => void;
  /** How many runs the filter means. */
  matching: number | undefined;
  actions?: readonly BulkAction[];
}

export function BulkBar(props: BulkBarProps): ReactNode {
  const { filter, choice, onChoose, matching, actions = ACTION_ORDER } = props;
  const [asked, setAsked] = useState<{ action: BulkAction; meant: Meant } | null>(null);
  const count = choice.isAll ? matching : choice.runs.size;
  const meant = choice.isAll ? { filter } : { runs: [...choice.runs] };
  return (
    <>
      {!isEmpty(choice) && (
        <div className="runs-bulk" role="region" aria-label="Selected runs">
          <strong role="status">
            {choice.isAll ? "All " : ""}
            {counted(count ?? 0, "run")} {choice.isAll ? "that match" : "selected"}
          </strong>
          {!choice.isAll && matching !== undefined && matching > choice.runs.size && (
            <button type="button" className="plain" onClick={() => onChoose(EVERY_MATCH)}>
              Select all {matching.toLocaleString("en")} that match
            </button>
          )}
          <span className="runs-bulk-actions">
            {actions.map((action) => (
              <button
                key={action}
                type="button"
                className={ACTIONS[action].isHarm ? "harm" : undefined}
                onClick={() => setAsked({ action, meant })}
              >
                {ACTIONS[action].verb} …
              </button>
            ))}
            <button type="button" className="plain" onClick={() => onChoose(NOTHING)}>
              Select none
            </button>
          </span>
        </div>
      )}
      {asked && <BulkDialog {...asked} onClose={() => setAsked(null)} />}
    </>
  );
}
