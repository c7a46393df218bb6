// Which rule decided, linked to its line of the document.

import type { ReactNode } from "react";

import type { RuleShown } from "../../../api/types";
import { Link } from "../../../router";
import { ruleWords } from "./attemptWords";

export function RuleLink({ run, rule }: { run: string; rule: RuleShown | null }): ReactNode {
  if (rule === null) return <span className="soft">no rule</span>;
  const name = ruleWords(rule);
  if (rule.line === null) return name;
  return (
    <Link to={`/runs/${encodeURIComponent(run)}?tab=source&line=${rule.line}`}>
      {name}, line {rule.line}
    </Link>
  );
}
