// Questions as a server tells them.

import type { QuestionAsked, QuestionsAsked } from "../../src/api/types";
import { HOSTILE } from "../runs/fixtures";

export function question(more: Partial<QuestionAsked> = {}): QuestionAsked {
  return {
    run: "380551591516684288",
    step: "approve",
    task: "approve",
    question: "Ship the release?",
    choices: ["[Y] Ship it", "[N] Back to the draft"],
    deadline: null,
    asked: 5,
    program: "release",
    asked_at: "2026-03-01T11:58:00.000000Z",
    silence: null,
    labels: { team: "platform" },
    ...more,
  };
}

export const urgent = question({
  run: "380551591516684289",
  question: "Refund order 4711?",
  choices: ["Approve", "Decline"],
  deadline: "2026-03-01T12:00:41.000000Z",
  program: "refund",
  silence: "takes Decline",
  labels: {},
});

export const hostile = question({
  run: "380551591516684290",
  step: HOSTILE,
  question: HOSTILE,
  choices: [],
  program: HOSTILE,
  labels: { [HOSTILE]: HOSTILE },
});

export function questions(...found: QuestionAsked[]): QuestionsAsked {
  return { questions: found, is_cut: false };
}
