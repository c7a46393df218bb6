// Which rule decided, linked to its line of the document.

import type { ReactNode } from "react";

import type { RuleShown } from "../../../api/types";
import { Link } from "../../../router";
import { ruleWords } from "./attemptWords";

interface RuleLinkProps {
  run: string;
  rule: RuleShown | null;
  /** What did not hold, where no rule decided. */
  unmet?: string | null;
}

export function RuleLink({ run, rule, unmet }: RuleLinkProps): ReactNode {
  if (rule === null) return <span className="soft">{unmet ?? "no rule"}</span>;
  const name = ruleWords(rule);
  if (rule.line === null) return name;
  return (
    <Link to={`/runs/${encodeURIComponent(run)}?tab=source&line=${rule.line}`}>
      {name}, line {rule.line}
    </Link>
  );
}
