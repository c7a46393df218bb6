// One step of the graph: its name and what it does; for a run also how it stands.

import type { Node, NodeProps } from "@xyflow/react";
import { memo, type KeyboardEvent, type ReactNode } from "react";

import type { NodeShown } from "../api/types";
import { ShapeIcon } from "../parts/Mark";
import { Countdown } from "../parts/Time";
import { outline, ROLE_WORDS } from "./outlines";
import { LINES_SHOWN_MAX } from "./sizes";
import { attemptBadge, attemptWords, lookOf, loopWords, nodeWords } from "./words";

export type StepData = {
  shown: NodeShown;
  isRun: boolean;
  isSelected: boolean;
  /** Where the Tab key enters the graph. */
  isStop: boolean;
  onSelect: (step: string) => void;
  onKey: (event: KeyboardEvent<HTMLElement>, step: string) => void;
};
export type StepFlowNode = Node<StepData, "step">;

export function StepNode({ data, width = 0, height = 0 }: NodeProps<StepFlowNode>): ReactNode {
  const { shown, isRun, isSelected } = data;
  const look = isRun && shown.status !== null ? `graph-tone-${lookOf(shown).tone}` : "graph-plain";
  return (
    <div
      className={`graph-node graph-role-${shown.role} ${look}${isSelected ? " graph-selected" : ""}`}
      data-step={shown.name}
    >
      <Outline shown={shown} width={width} height={height} />
      <Content shown={shown} isRun={isRun} />
      {/* Lies over the drawing, and says in words what that shows. */}
      <button
        type="button"
        className="graph-hit"
        data-hit={shown.name}
        tabIndex={data.isStop ? 0 : -1}
        aria-pressed={isSelected}
        aria-label={nodeWords(shown, isRun)}
        title={nodeWords(shown, isRun)}
        aria-keyshortcuts="Enter ArrowUp ArrowDown ArrowLeft ArrowRight"
        onClick={() => data.onSelect(shown.name)}
        onKeyDown={(event) => data.onKey(event, shown.name)}
      />
    </div>
  );
}

interface OutlineProps {
  shown: NodeShown;
  width: number;
  height: number;
}

const Outline = memo(function Outline({ shown, width, height }: OutlineProps): ReactNode {
  return (
    <svg className="graph-outline" width={width} height={height} aria-hidden="true">
      <path className="graph-border" d={outline(shown.role, width, height, 1.5)} />
      {shown.role === "exit" && (
        <path className="graph-border-inner" d={outline(shown.role, width, height, 5)} />
      )}
    </svg>
  );
});

const Content = memo(function Content(props: { shown: NodeShown; isRun: boolean }): ReactNode {
  const { shown, isRun } = props;
  return (
    <div className="graph-content" aria-hidden="true">
      <div className="graph-head">
        {shown.is_entry && <span className="graph-entry">▸</span>}
        <span className="graph-name">{shown.name}</span>
        {shown.is_gate && <span className="graph-chip graph-gate">gate</span>}
        {shown.role !== "step" && <span className="graph-chip">{ROLE_WORDS[shown.role]}</span>}
      </div>
      <Lines shown={shown} isRun={isRun} />
      {isRun && shown.is_loop && <LoopCount shown={shown} />}
      {isRun && <Standing shown={shown} />}
    </div>
  );
});

/** What it does; what went wrong takes the place of the last line. */
function Lines({ shown, isRun }: { shown: NodeShown; isRun: boolean }): ReactNode {
  const trouble = isRun ? shown.trouble : null;
  const most = Math.min(shown.lines.length, LINES_SHOWN_MAX);
  const room = trouble ? most - 1 : most;
  return (
    <>
      {shown.lines.slice(0, Math.max(0, room)).map((line, number) => (
        <div key={number} className="graph-line" title={line}>
          {line}
        </div>
      ))}
      {trouble && (
        <div className="graph-line graph-trouble" title={trouble}>
          {trouble}
        </div>
      )}
    </>
  );
}

function LoopCount({ shown }: { shown: NodeShown }): ReactNode {
  const { total, done, failed } = shown.loop ?? { total: 0, done: 0, failed: 0 };
  const share = (count: number): string => `${total ? Math.min(100, (100 * count) / total) : 0}%`;
  return (
    <div className="graph-loop">
      <span>{loopWords(shown) ?? "not started"}</span>
      <span className="graph-progress" aria-hidden="true">
        <span className="graph-progress-done" style={{ width: share(done) }} />
        <span className="graph-progress-failed" style={{ width: share(failed) }} />
      </span>
    </div>
  );
}

function Standing({ shown }: { shown: NodeShown }): ReactNode {
  const look = lookOf(shown);
  const badge = attemptBadge(shown);
  return (
    <div className="graph-standing">
      {shown.status === null ? (
        <span className="graph-unreached">{look.word}</span>
      ) : (
        <span className="graph-status">
          <ShapeIcon shape={look.shape} />
          <span className="graph-word">{look.word}</span>
          {shown.until !== null && <Countdown until={shown.until} />}
        </span>
      )}
      {badge !== null && (
        <span className="graph-badge" title={attemptWords(shown) ?? undefined}>
          {badge}
        </span>
      )}
      {shown.visits > 1 && (
        <span className="graph-badge" title={`${shown.visits} visits`}>
          ×{shown.visits}
        </span>
      )}
    </div>
  );
}
