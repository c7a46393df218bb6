// What the run asks of people and of the world outside: questions to answer, signals to send.

import { useState, type FormEvent, type ReactNode } from "react";

import type { QuestionRow, RunPicture } from "../../api/types";
import { Link } from "../../router";
import type { Asked } from "./actions/asked";
import { Due } from "./Elapsed";

interface AsksProps {
  picture: RunPicture;
  onAsk: (asked: Asked) => void;
}

export function Asks({ picture, onAsk }: AsksProps): ReactNode {
  const { questions, signals, run } = picture;
  return (
    <>
      {questions.map((question) => (
        <Question
          key={`${question.run}/${question.asked}`}
          question={question}
          own={run}
          onAnswer={(answer) => onAsk({ act: "answer", question, answer })}
        />
      ))}
      {signals.map((signal) => (
        <div key={`${signal.run}/${signal.step}/${signal.task}`} className="run-ask row">
          <span>
            Signal <code>{signal.signal}</code> for step {signal.step}
            <OfChild run={signal.run} own={run} />
            {signal.deadline !== null && (
              <span className="soft">
                , gives up
                <Due until={signal.deadline} now={null} />
              </span>
            )}
          </span>
          <button type="button" onClick={() => onAsk({ act: "signal", signal })}>
            Send the signal …
          </button>
        </div>
      ))}
    </>
  );
}

function OfChild({ run, own }: { run: string; own: string }): ReactNode {
  if (run === own) return null;
  return (
    <>
      {" of child run "}
      <Link to={`/runs/${run}`}>{run}</Link>
    </>
  );
}

interface QuestionProps {
  question: QuestionRow;
  own: string;
  onAnswer: (answer: string) => void;
}

function Question({ question, own, onAnswer }: QuestionProps): ReactNode {
  const { step, choices, deadline } = question;
  return (
    <div className="run-ask" role="group" aria-label={`Question of step ${step}`}>
      <p className="small soft">
        Asked by step {step}
        <OfChild run={question.run} own={own} />
        {deadline !== null && (
          <>
            , decides automatically
            <Due until={deadline} now={null} />
          </>
        )}
      </p>
      <p className="run-question">{question.question}</p>
      {choices.length > 0 ? (
        <div className="row">
          {choices.map((choice) => (
            <button key={choice} type="button" onClick={() => onAnswer(choice)}>
              {choice}
            </button>
          ))}
        </div>
      ) : (
        <FreeAnswer onAnswer={onAnswer} />
      )}
    </div>
  );
}

function FreeAnswer({ onAnswer }: { onAnswer: (answer: string) => void }): ReactNode {
  const [text, setText] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim()) onAnswer(text);
  };
  return (
    <form className="row" onSubmit={submit}>
      <input
        aria-label="Your answer"
        className="run-answer"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={!text.trim()}>
        Answer …
      </button>
    </form>
  );
}
