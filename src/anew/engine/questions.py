"""Questions to people: what is asked, which answers fit, and what follows when nobody answers.

The engine asks by itself: no tool is called, and the wait for an answer holds no worker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Advice, Outcome, error_of, outcome_of, wait_seconds
from anew.engine.retry import due_at
from anew.engine.state import Question, RunState, StepRunKey, StepRunStatus
from anew.engine.verdicts import RETRY_WORD, ErrorType
from anew.program.policy import TimeoutAction, Verdict
from anew.values import Object, Value

_ACCELERATOR = re.compile(r"\s*(?:\[(\w+)\]\s*|(\w)\)\s*|(\w)\s+-\s+)(?=\S)")


class PendingQuestion(Struct, frozen=True):
    """What a step-run waits to hear."""

    key: StepRunKey
    task: str
    question: str
    choices: list[str]
    deadline: int | None
    action: TimeoutAction
    asked_at: int


def pending(state: RunState) -> list[PendingQuestion]:
    """The open questions of a run, oldest first."""
    asking = [run for run in state.live_step_runs() if run.status is StepRunStatus.ASKING]
    asking.sort(key=lambda run: (run.asked_at, run.started_seq))
    return [
        PendingQuestion(
            run.key,
            run.task or "",
            run.question.text,
            run.question.choices,
            run.resume_at,
            run.question.action,
            run.asked_at,
        )
        for run in asking
        if run.question is not None
    ]


def accelerator(label: str) -> str | None:
    """The key a label offers: `Y` of `[Y] Yes`, `Y) Yes` and `Y - Yes`."""
    found = _ACCELERATOR.match(label)
    return next(filter(None, found.groups())) if found else None


def plain_label(label: str) -> str:
    """The label without its accelerator."""
    found = _ACCELERATOR.match(label)
    return label[found.end() :].strip() if found else label.strip()


def same_label(one: str, other: str) -> bool:
    """Whether two labels mean the same choice: case, space and accelerators do not matter."""
    return plain_label(one).casefold() == plain_label(other).casefold()


def chosen(choices: Sequence[str], answer: str) -> str | None:
    """The choice an answer means, or None. Without choices any text is an answer.

    By accelerator, whole label, label without accelerator, beginning, then number from 1.
    """
    said = answer.strip()
    if not choices:
        return said or None
    found = matching(choices, said)
    # Where an answer fits two labels alike, to choose one of them would be to guess.
    return found[0] if len(found) == 1 else None


def matching(choices: Sequence[str], answer: str) -> list[str]:
    """The different choices that an answer fits equally well."""
    said = answer.strip()
    word = said.casefold()
    if not word:
        return []
    if said in choices:
        return [said]
    for fits in (
        lambda label: (accelerator(label) or "").casefold() == word,
        lambda label: label.strip().casefold() == word,
        lambda label: plain_label(label).casefold() == word,
        lambda label: plain_label(label).casefold().startswith(word),
    ):
        found = list(dict.fromkeys(label for label in choices if fits(label)))
        if found:
            return found
    number = int(said) if said.isascii() and said.isdigit() and len(said) < 6 else 0
    return [choices[number - 1]] if 1 <= number <= len(choices) else []


def asked_by(inputs: Value, now: int) -> Question | Object:
    """The question a task's inputs amount to; an error object when they are none."""
    said = inputs if isinstance(inputs, dict) else {}
    question, choices = said.get("question"), said.get("choices") or []
    if not isinstance(question, str) or not question.strip():
        return error_of("config", "question must be a text that is not empty")
    if not isinstance(choices, list) or not all(isinstance(one, str) for one in choices):
        return error_of("config", "choices must be a list of texts")
    seconds = None if said.get("timeout") is None else wait_seconds(said["timeout"], now)
    if said.get("timeout") is not None and (seconds is None or seconds < 0):
        return error_of("config", f"timeout must be seconds or a duration, not {said['timeout']!r}")
    usual = TimeoutAction.FIRST if said.get("default") else TimeoutAction.FAIL
    action = said.get("timeout_action") or usual
    if action not in tuple(TimeoutAction):
        return error_of(
            "config", f"timeout_action {action!r} is none of {', '.join(TimeoutAction)}"
        )
    default = said.get("default")
    if default is not None:
        default = chosen(choices, str(default))
        if default is None:
            return error_of("config", f"default {said['default']!r} is none of the choices")
    deadline = None if seconds is None else due_at(now, seconds)
    return Question(question, choices, TimeoutAction(action), default, deadline)


def outcome_of_answer(answer: str, label: str | None, by: str | None) -> Outcome:
    """What a person's answer gives the task; `label` is the choice it means, if there are any."""
    result = {"answer": answer, "label": label, "by": by}
    return outcome_of(result, advice=Advice(label=label), is_sealed=True)


def outcome_of_silence(asked: Question, asked_at: int) -> tuple[Outcome, str | None]:
    """What nobody's answer gives the task, and the label that is chosen then, if one is."""
    label = asked.default or (asked.choices[0] if asked.choices else None)
    if asked.action is TimeoutAction.FIRST and label is not None:
        return outcome_of_answer(label, label, None), label
    if asked.action is TimeoutAction.SKIP:
        result = {"answer": None, "label": None, "by": None}
        return outcome_of(result, advice=Advice(verdict=Verdict.SKIPPED)), None
    seconds = ((asked.deadline or asked_at) - asked_at) / NANOSECONDS
    error = error_of("timeout", f"nobody answered within {seconds:g} s: {asked.text}")
    error["type"] = ErrorType.TIMEOUT.value
    if asked.action is TimeoutAction.RETRY:
        return outcome_of(error=error, advice=Advice(word=RETRY_WORD)), None
    return outcome_of(error={**error, "retryable": None}), None
