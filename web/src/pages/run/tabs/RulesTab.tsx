// The rules of every task, and how often each has decided.

import type { ReactNode } from "react";

import type { RulesHit, RunPicture } from "../../../api/types";
import { counted } from "../../../words/time";
import type { Show } from "../shown";

interface RulesTabProps {
  picture: RunPicture;
  step: string | null;
  show: Show;
}

export function RulesTab({ picture, step, show }: RulesTabProps): ReactNode {
  const rules = picture.rules.filter((row) => step === null || row.step === step);
  if (rules.length === 0) {
    return (
      <p className="soft">
        {step === null ? "This program has no rules." : `Step ${step} has no rules.`}
      </p>
    );
  }
  const most = Math.max(1, ...rules.map((row) => row.hits));
  return (
    <div className="table-scroll sheet sheet-flush" role="region" aria-label="Rules" tabIndex={0}>
      <table className="plain-table run-rules">
        <thead>
          <tr>
            <th scope="col">task</th>
            <th scope="col">rule</th>
            <th scope="col">when</th>
            <th scope="col">then</th>
            <th scope="col">decided</th>
          </tr>
        </thead>
        <tbody>
          {rules.map((row) => (
            <Rule key={`${row.step}/${row.task}/${row.rule.number}`} {...{ row, most, show }} />
          ))}
        </tbody>
      </table>
      {picture.more_rules > 0 && (
        <p className="run-more soft">
          and {counted(picture.more_rules, "rule")} more: the source has them all
        </p>
      )}
    </div>
  );
}

function Rule({ row, most, show }: { row: RulesHit; most: number; show: Show }): ReactNode {
  const { rule, hits } = row;
  return (
    <tr className={hits ? undefined : "run-unused"}>
      <td>
        {row.step}.{row.task}
      </td>
      <td>
        {rule.name ?? rule.number}
        {rule.line !== null && (
          <>
            {", "}
            <button
              type="button"
              className="plain"
              onClick={() => show({ tab: "source", line: rule.line })}
            >
              line {rule.line}
            </button>
          </>
        )}
      </td>
      <td>
        {row.when === null ? <span className="soft">otherwise</span> : <code>{row.when}</code>}
      </td>
      <td>{row.directive}</td>
      <td>
        <span className="run-hits">
          <meter min={0} max={most} value={hits} aria-hidden="true" />
          {hits ? `${hits.toLocaleString("en")} ×` : "never"}
        </span>
      </td>
    </tr>
  );
}
