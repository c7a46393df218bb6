// One question: what is asked, by whom, until when, and the answer to it.

import { useId, useState, type ReactNode } from "react";

import type { QuestionAsked } from "../../api/types";
import { Failure } from "../../parts/Notice";
import { Ago } from "../../parts/Time";
import { Link } from "../../router";
import { Deadline } from "./Deadline";
import type { Given } from "./useAnswers";
import { useAnswering } from "./useAnswering";

// A page of text; the rest shows when asked for.
const CHARACTERS_SHOWN_MAX = 800;

interface QuestionProps {
  asked: QuestionAsked;
  by: string;
  /** An answer that was not taken. */
  refused: Given | undefined;
  onAnswer: (said: string) => void;
}

export function Question({ asked, by, refused, onAnswer }: QuestionProps): ReactNode {
  const name = useId();
  const answering = useAnswering({ asked, by, before: refused?.said ?? null, onAnswer });
  return (
    <li>
      <article
        ref={answering.box}
        className="sheet people-question"
        aria-labelledby={name}
        tabIndex={-1}
        onKeyDown={answering.pressed}
      >
        <header className="people-asked">
          <Wording id={name} text={asked.question} />
          <Deadline deadline={asked.deadline} silence={asked.silence} />
        </header>
        <Origin asked={asked} />
        {refused?.fate instanceof Error && <Failure error={refused.fate} />}
        {answering.form}
      </article>
    </li>
  );
}

function Wording({ id, text }: { id: string; text: string }): ReactNode {
  const [isWhole, setWhole] = useState(text.length <= CHARACTERS_SHOWN_MAX);
  return (
    <div className="people-wording">
      <h2 id={id}>{isWhole ? text : `${text.slice(0, CHARACTERS_SHOWN_MAX)} …`}</h2>
      {!isWhole && (
        <button type="button" className="plain" onClick={() => setWhole(true)}>
          Show the whole question
        </button>
      )}
    </div>
  );
}

function Origin({ asked }: { asked: QuestionAsked }): ReactNode {
  return (
    <p className="people-origin soft small">
      <strong>{asked.program}</strong>
      <span>
        run <Link to={`/runs/${asked.run}`}>{asked.run}</Link>
      </span>
      <span>step {asked.step}</span>
      <span>
        asked <Ago at={asked.asked_at} />
      </span>
      {Object.entries(asked.labels).map(([label, value]) => (
        <span key={label} className="label-chip" title={`${label}=${value}`}>
          {label}={value}
        </span>
      ))}
    </p>
  );
}
