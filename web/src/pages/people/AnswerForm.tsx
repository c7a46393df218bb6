// The answer to one question: a choice that is picked and then confirmed, since no answer can be
// taken back, or a text. The command lines show exactly what is sent.

import { useEffect, useRef, type FormEvent, type KeyboardEvent, type ReactNode } from "react";

import { CommandLines } from "../../parts/Commands";
import { commandOf, type Answer } from "./answer";

interface AnswerFormProps {
  answer: Answer;
  onAnswer: () => void;
}

interface PickedProps extends AnswerFormProps {
  /** The choice without its letter. */
  text: string;
  onLeave: () => void;
}

export function PickedAnswer({ answer, text, onAnswer, onLeave }: PickedProps): ReactNode {
  const button = useRef<HTMLButtonElement>(null);
  // So that a letter and Enter answer.
  useEffect(() => button.current?.focus(), [answer.said]);
  return (
    <AnswerForm answer={answer} onAnswer={onAnswer}>
      <div className="row">
        <button ref={button} type="submit" className="main">
          Answer “{text}”{as(answer.by)}
        </button>
        <button type="button" onClick={onLeave} aria-keyshortcuts="Escape" title="Key Escape">
          Cancel
        </button>
        <Warning />
      </div>
    </AnswerForm>
  );
}

interface TextProps extends AnswerFormProps {
  text: string;
  onType: (text: string) => void;
}

export function TextAnswer({ answer, text, onAnswer, onType }: TextProps): ReactNode {
  const typed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && answer.said) onAnswer();
  };
  return (
    <AnswerForm answer={answer} onAnswer={onAnswer}>
      <label className="field people-text">
        Your answer
        <textarea
          rows={2}
          value={text}
          aria-keyshortcuts="Control+Enter"
          title="Control and Enter answer"
          onKeyDown={typed}
          onChange={(event) => onType(event.target.value)}
        />
      </label>
      <div className="row">
        <button type="submit" className="main" disabled={answer.said === ""}>
          Answer{as(answer.by)}
        </button>
        <Warning />
      </div>
    </AnswerForm>
  );
}

function AnswerForm({ answer, onAnswer, children }: AnswerFormProps & { children: ReactNode }) {
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (answer.said) onAnswer();
  };
  return (
    <form className="people-answer" onSubmit={submit}>
      {children}
      {answer.said && (
        <details>
          <summary>CLI and API</summary>
          <CommandLines command={commandOf(answer)} />
        </details>
      )}
    </form>
  );
}

function Warning(): ReactNode {
  return <span className="soft small">The run continues with it. It cannot be taken back.</span>;
}

function as(by: string): string {
  return by ? ` as ${by}` : "";
}
