// One problem: how many runs it has, what it is, and where and when it was seen.

import { useId, type ReactNode } from "react";

import type { FailureGroup } from "../../api/types";
import { ShapeIcon } from "../../parts/Mark";
import { Ago } from "../../parts/Time";
import { counted } from "../../words/time";
import { GroupRuns } from "./GroupRuns";
import type { FailuresAsked } from "./queries";

const PROGRAMS_SHOWN_MAX = 3;

interface GroupProps {
  group: FailureGroup;
  /** The count of the largest group: the whole width of a bar. */
  most: number;
  asked: FailuresAsked;
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
}

export function Group({ group, most, asked, isOpen, onToggle }: GroupProps): ReactNode {
  const panel = useId();
  return (
    <li className={`sheet sheet-flush failure${isOpen ? " is-open" : ""}`}>
      <h2>
        <button
          type="button"
          className="failure-head"
          aria-expanded={isOpen}
          aria-controls={isOpen ? panel : undefined}
          onClick={() => onToggle(!isOpen)}
        >
          <Count group={group} most={most} />
          <span className="failure-what">
            <span className="failure-kind">
              <code>{group.kind}</code>
              {group.step !== null && <span className="soft"> in {group.step}</span>}
            </span>
            <span className="failure-message" title={group.message}>
              {group.message || "no message"}
            </span>
          </span>
          <span className="failure-programs" title={group.programs.join(", ")}>
            {programsSaid(group.programs)}
          </span>
          <span className="failure-seen">
            <span>
              last <Ago at={group.last_at} />
            </span>
            <span className="soft">
              first <Ago at={group.first_at} />
            </span>
          </span>
          <span className="failure-arrow" aria-hidden="true" />
        </button>
      </h2>
      {isOpen && (
        <div id={panel} className="failure-panel">
          <GroupRuns group={group} asked={asked} />
        </div>
      )}
    </li>
  );
}

function Count({ group, most }: { group: FailureGroup; most: number }): ReactNode {
  return (
    <span className="failure-count">
      <strong>{counted(group.count, "run")}</strong>
      {group.dead > 0 && (
        <span className="failure-dead">
          <ShapeIcon shape="skull" /> {group.dead.toLocaleString("en")} given up
        </span>
      )}
      {group.retried > 0 && (
        <span className="soft small">{group.retried.toLocaleString("en")} retried</span>
      )}
      <span className="failure-bar" aria-hidden="true">
        <span style={{ width: `${(100 * group.count) / Math.max(most, 1)}%` }} />
      </span>
    </span>
  );
}

function programsSaid(programs: readonly string[]): string {
  const shown = programs.slice(0, PROGRAMS_SHOWN_MAX).join(", ");
  const more = programs.length - PROGRAMS_SHOWN_MAX;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
