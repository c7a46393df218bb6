// The open questions of all runs, and which of them is found.

import { useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../api/client";
import type { QuestionAsked, QuestionRow, QuestionsAsked, RunText } from "../../api/types";

export const QUESTIONS_KEY = ["people", "questions"] as const;

// The stream of changes only hints: what it left out shows by then.
const BACKSTOP_MS = 60_000;

export function useQuestions(): UseQueryResult<QuestionsAsked> {
  return useQuery({
    queryKey: QUESTIONS_KEY,
    queryFn: ({ signal }) => get<QuestionsAsked>("/api/v1/questions", {}, signal),
    refetchInterval: BACKSTOP_MS,
  });
}

/** Tells a question from every other, also of the same step. */
export function questionKey({ run, asked }: QuestionRow): string {
  return `${run}/${asked}`;
}

/** Whether every word of a search is in what is shown of a question. */
export function isFound(asked: QuestionAsked, search: string): boolean {
  const labels = Object.entries(asked.labels).map(([name, value]) => `${name}=${value}`);
  const said = [asked.question, asked.program, asked.step, asked.run, ...asked.choices, ...labels]
    .join("\n")
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

export function asks(questions: readonly QuestionAsked[], runs: readonly RunText[]): boolean {
  return questions.some((one) => runs.includes(one.run));
}
