// The answers given on this page, and what became of them. A question goes as soon as it is answered;
// it comes back when the answer was not taken and it is still open.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ApiProblem, post, Unreachable } from "../../api/client";
import type { QuestionAsked } from "../../api/types";
import { commandOf, type Answer } from "./answer";
import { questionKey, QUESTIONS_KEY } from "./questions";

export type Fate = "sending" | "kept" | Error;

export type GivenAnswer = Answer<QuestionAsked>;

export interface Given extends GivenAnswer {
  key: string;
  fate: Fate;
  /** By the clock of this machine, in milliseconds. */
  at: number;
  /** The person has read what became of it. */
  isRead: boolean;
}

/** The newest first. */
export interface Answers {
  given: readonly Given[];
  give: (answer: GivenAnswer) => void;
  read: (key: string) => void;
}

// As many as the server shows questions at once.
const GIVEN_MAX = 200;

export function useAnswers(): Answers {
  const client = useQueryClient();
  const [given, setGiven] = useState<readonly Given[]>([]);
  const note = (answer: GivenAnswer, fate: Fate): void => {
    const key = questionKey(answer.asked);
    setGiven((before) =>
      [
        { ...answer, key, fate, at: Date.now(), isRead: false },
        ...before.filter((one) => one.key !== key),
      ].slice(0, GIVEN_MAX),
    );
  };
  const sending = useMutation({
    mutationFn: send,
    onMutate: (answer) => note(answer, "sending"),
    onSuccess: (_, answer) => note(answer, "kept"),
    onError: (error, answer) => note(answer, worded(error)),
    onSettled: () => void client.invalidateQueries({ queryKey: QUESTIONS_KEY }),
  });
  return {
    given,
    give: sending.mutate,
    read: (key) =>
      setGiven((before) => before.map((one) => (one.key === key ? { ...one, isRead: true } : one))),
  };
}

async function send(answer: GivenAnswer): Promise<void> {
  const command = commandOf(answer);
  await post(command.path, command.body);
}

function worded(error: Error): Error {
  if (!(error instanceof Unreachable)) return error;
  return new Error(
    "The server cannot be reached, and the answer may or may not have arrived. " +
      "When the question is still here once the page is live, answer it again.",
  );
}

/** Somebody else answered, or time was over: it is of no use to ask once more. */
export function isConflict(fate: Fate): boolean {
  return fate instanceof ApiProblem && fate.status === 409;
}

/** Whether a question is not to be shown, because of an answer to it that what was read at this moment
 * does not have yet. What is read later is to be believed. */
export function isSettled(given: Given | undefined, readAt: number): boolean {
  if (given === undefined) return false;
  if (given.fate === "sending") return true;
  return given.at > readAt && (given.fate === "kept" || isConflict(given.fate));
}
