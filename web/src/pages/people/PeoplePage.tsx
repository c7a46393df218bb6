// What runs ask people, the soonest deadline first, and a way to answer.

import { useQueryClient } from "@tanstack/react-query";
import { useRef, type ReactNode } from "react";

import { Failure, Loading, Notice } from "../../parts/Notice";
import { useWords } from "../../router";
import { counted } from "../../words/time";
import { LogField } from "../run/actions/LogField";
import { useName } from "../run/actions/useName";
import { Live } from "../runs/Live";
import { askAgain, useChanges } from "../runs/live";
import { QuestionList } from "./QuestionList";
import { asks, isFound, questionKey, useQuestions } from "./questions";
import { Search } from "./Search";
import { Signals } from "./Signals";
import { GivenNotices } from "./GivenNotices";
import { isSettled, useAnswers } from "./useAnswers";
import "../runs/runs.css";
import "./people.css";

export default function PeoplePage(): ReactNode {
  const client = useQueryClient();
  const [words] = useWords();
  const [name, setName] = useName();
  const head = useRef<HTMLHeadingElement>(null);
  const answers = useAnswers();
  const questions = useQuestions();
  const listed = questions.data?.questions ?? [];
  const liveness = useChanges({
    onChanges: ({ runs, is_all }) => {
      if (is_all || asks(listed, runs)) askAgain(client, "people");
    },
    // Any other run may begin to ask; the answer is read from all that do.
    onSlowly: () => {
      askAgain(client, "people");
      askAgain(client, "runs", "facets");
    },
  });
  const fates = new Map(answers.given.map((one) => [one.key, one]));
  const open = listed.filter(
    (one) => !isSettled(fates.get(questionKey(one)), questions.dataUpdatedAt),
  );
  const search = words.get("text") ?? "";
  const shown = open.filter((one) => isFound(one, search));
  const stillOpen = new Set(open.map(questionKey));
  return (
    <>
      <div className="page-head">
        <h1 ref={head} tabIndex={-1}>
          People
        </h1>
        <Live liveness={liveness} />
        {questions.data && (
          <span className="soft" role="status">
            {open.length === 0 ? "no open question" : counted(open.length, "open question")}
          </span>
        )}
      </div>
      <div className="people-tools">
        <LogField label="Answering as" value={name} onChange={setName} />
        <Search />
        <Signals />
      </div>
      {shown.length > 0 && <KeysHint />}
      <GivenNotices
        given={answers.given.filter((one) => !stillOpen.has(one.key))}
        onRead={answers.read}
      />
      {questions.isPending && <Loading what="questions" />}
      {questions.error && !questions.data && <Failure error={questions.error} />}
      {questions.error && questions.data && (
        <Notice tone="late">Not up to date: {questions.error.message}</Notice>
      )}
      {questions.data && shown.length === 0 && <NoQuestions isNarrowed={open.length > 0} />}
      <QuestionList
        questions={shown}
        by={name.trim()}
        fates={fates}
        onAnswer={answers.give}
        onEmpty={() => head.current?.focus()}
      />
      {questions.data?.is_cut && (
        <Notice tone="calm">There are more questions. They show once these are answered.</Notice>
      )}
    </>
  );
}

function KeysHint(): ReactNode {
  return (
    <p className="people-keys soft small">
      Keys: <kbd>j</kbd> <kbd>k</kbd> next and previous, the letter of a choice picks it,{" "}
      <kbd>Enter</kbd> answers, <kbd>Esc</kbd> cancels, <kbd>/</kbd> searches.
    </p>
  );
}

function NoQuestions({ isNarrowed }: { isNarrowed: boolean }): ReactNode {
  return (
    <p className="sheet runs-empty">
      {isNarrowed
        ? "No open question has these words. Clear the search to see all."
        : "Nobody is asked anything. When a run needs a person, its question is here at once."}
    </p>
  );
}
