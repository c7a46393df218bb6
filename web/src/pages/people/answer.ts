// An answer, as the page sends it and as a command line says it.

import type { QuestionAsked, QuestionRow, RunText, Status } from "../../api/types";
import type { Command } from "../../parts/Commands";

export interface Answer {
  asked: QuestionAsked;
  said: string;
  by: string;
}

/** What POST /api/v1/runs/{run}/answer tells: the question it was taken for. */
export interface AnswerTaken {
  run: RunText;
  status: Status;
  question: QuestionRow;
}

export function commandOf({ asked, said, by }: Answer): Command {
  const { run, step } = asked;
  return {
    cli: ["answer", run, said, "--step", step, ...(by ? ["--by", by] : []), "--no-wait"],
    method: "POST",
    path: `/api/v1/runs/${encodeURIComponent(run)}/answer`,
    body: { answer: said, step, ...(by ? { by } : {}) },
  };
}
