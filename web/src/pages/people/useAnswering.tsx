// Picking or typing an answer. The letters of the choices work while the question has the focus.

import { useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import type { QuestionAsked } from "../../api/types";
import { isTyping } from "../runs/keys";
import { PickedAnswer, TextAnswer } from "./AnswerForm";
import { ChoiceButtons } from "./ChoiceButtons";
import { choicesOf, picked } from "./choices";

export interface AnsweringProps {
  asked: QuestionAsked;
  by: string;
  /** What was said before, and not taken. */
  before: string | null;
  onAnswer: (said: string) => void;
}

/** The answer to a question, and what keys do to it. */
export function useAnswering({ asked, by, before, onAnswer }: AnsweringProps) {
  const box = useRef<HTMLElement>(null);
  const [said, setSaid] = useState(before);
  const choices = choicesOf(asked.choices);
  const leave = (): void => {
    setSaid(null);
    box.current?.focus();
  };
  const pressed = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "Escape" && said !== null) return leave();
    const choice = picked(choices, event.key);
    if (choice === undefined) return;
    event.preventDefault();
    setSaid(choice.label);
  };
  const text = said ?? "";
  const typed = { asked, said: text.trim(), by };
  const chosen = choices.find((one) => one.label === said);
  const form: ReactNode =
    choices.length === 0 ? (
      <TextAnswer
        answer={typed}
        text={text}
        onType={setSaid}
        onAnswer={() => onAnswer(typed.said)}
      />
    ) : (
      <>
        <ChoiceButtons choices={choices} chosen={said} onChoose={setSaid} />
        {chosen && (
          <PickedAnswer
            answer={{ asked, said: chosen.label, by }}
            text={chosen.text}
            onAnswer={() => onAnswer(chosen.label)}
            onLeave={leave}
          />
        )}
      </>
    );
  return { box, pressed, form };
}
