// The open questions of all runs, and which of them is meant.

import { useQuery, type UseQueryResult } from "@tanstack/react-query";

import { get } from "../../api/client";
import type { QuestionAsked, QuestionsAsked, RunText } from "../../api/types";

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

/** Tells a question from the next one of the same step. */
export function questionKey(asked: QuestionAsked): string {
  return [asked.run, asked.step, asked.task, asked.asked_at, asked.question].join("\n");
}

/** A key for each, also where iterations of a step ask the same at the same moment. */
export function distinctKeys(questions: readonly QuestionAsked[]): string[] {
  const counts = new Map<string, number>();
  return questions.map((one) => {
    const key = questionKey(one);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return `${key}\n${count}`;
  });
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

/** The question that an answer to this run and step is for: the one that has waited longest. */
export function isNext(asked: QuestionAsked, all: readonly QuestionAsked[]): boolean {
  const [first] = all
    .filter((one) => one.run === asked.run && one.step === asked.step)
    .toSorted((one, other) => Date.parse(one.asked_at) - Date.parse(other.asked_at));
  return first === undefined || questionKey(first) === questionKey(asked);
}

export function asks(questions: readonly QuestionAsked[], runs: readonly RunText[]): boolean {
  return questions.some((one) => runs.includes(one.run));
}
