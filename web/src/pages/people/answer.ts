// An answer, as the page sends it and as a command line says it. It names the question that was seen:
// where that is not open any more it is refused, and goes to no other of the same step.

import type { QuestionRow } from "../../api/types";
import { option, type Command } from "../../parts/Commands";

export interface Answer<Question extends QuestionRow = QuestionRow> {
  asked: Question;
  said: string;
  by: string;
}

export function commandOf({ asked: question, said, by }: Answer): Command {
  const { run, step, asked } = question;
  const which = [...option("--step", step), "--asked", String(asked)];
  const rest = [...which, ...(by ? option("--by", by) : []), "--no-wait"];
  const isLikeOption = said.startsWith("-");
  return {
    cli: isLikeOption ? ["answer", run, ...rest] : ["answer", run, said, ...rest],
    cliLast: isLikeOption ? [said] : [],
    method: "POST",
    path: `/api/v1/runs/${encodeURIComponent(run)}/answer`,
    body: { answer: said, step, asked, ...(by ? { by } : {}) },
  };
}
