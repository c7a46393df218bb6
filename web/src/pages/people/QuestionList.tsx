// The questions one below the other. The keys j and k go from one to the next.

import { useRef, type ReactNode } from "react";

import type { QuestionAsked } from "../../api/types";
import { useKeys } from "../runs/keys";
import { Question } from "./Question";
import { questionKey } from "./questions";
import type { Given, GivenAnswer } from "./useAnswers";

interface QuestionListProps {
  questions: readonly QuestionAsked[];
  by: string;
  fates: ReadonlyMap<string, Given>;
  onAnswer: (answer: GivenAnswer) => void;
  /** The last one was answered: the focus has to go elsewhere. */
  onEmpty: () => void;
}

export function QuestionList(props: QuestionListProps): ReactNode {
  const { questions, by, fates, onAnswer, onEmpty } = props;
  const list = useRef<HTMLUListElement>(null);
  const items = (): HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>("article") ?? []),
  ];
  useKeys(["j", "k"], (key) => {
    const found = items();
    const at = found.findIndex((item) => item.contains(document.activeElement));
    const next = at < 0 ? 0 : at + (key === "j" ? 1 : -1);
    found[Math.min(Math.max(next, 0), found.length - 1)]?.focus();
  });
  const answer = (at: number, given: GivenAnswer): void => {
    const found = items();
    const next = found[at + 1] ?? found[at - 1];
    if (next) next.focus();
    else onEmpty();
    onAnswer(given);
  };
  return (
    <ul ref={list} className="people-questions" aria-label="Open questions" aria-keyshortcuts="j k">
      {questions.map((asked, at) => (
        <Question
          key={questionKey(asked)}
          asked={asked}
          by={by}
          refused={fates.get(questionKey(asked))}
          onAnswer={(said) => answer(at, { asked, said, by })}
        />
      ))}
    </ul>
  );
}
