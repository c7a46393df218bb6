// Answer what a run asks a person.

import type { ReactNode } from "react";

import type { QuestionRow } from "../../../api/types";
import { commandOf } from "../../people/answer";
import { ActionDialog } from "./ActionDialog";
import { LogField } from "./LogField";
import { useName } from "./useName";

interface AnswerDialogProps {
  question: QuestionRow;
  answer: string;
  onDone: (said: ReactNode) => void;
  onClose: () => void;
}

export function AnswerDialog({ question, answer, onDone, onClose }: AnswerDialogProps): ReactNode {
  const [name, setName] = useName();
  return (
    <ActionDialog
      title={`Answer “${answer}”`}
      command={commandOf({ asked: question, said: answer, by: name.trim() })}
      confirm={`Answer “${answer}”`}
      onClose={onClose}
      onDone={() => onDone(`The answer of ${question.step} was kept: ${answer}.`)}
    >
      <p className="run-question">{question.question}</p>
      <p className="soft">The run continues with this answer. It cannot be taken back.</p>
      <LogField label="Your name, for the log" value={name} onChange={setName} />
    </ActionDialog>
  );
}
