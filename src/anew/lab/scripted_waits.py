"""Tasks that no tool is called for, in a simulation whose script says an outcome.

A task that waits for others asks nobody and waits for no signal then: it is played like any other,
and gives what the script says. Answers and signals in the same list are still read as such. So does
a node that could not be called because something is not configured.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from anew.engine.outcome import Outcome, outcome_of
from anew.engine.questions import asked_by, chosen, matching, outcome_of_answer
from anew.engine.signals import outcome_of_signal
from anew.engine.state import Question
from anew.lab.script import BY_SCRIPT, Script, ScriptEntry
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import Verdict
from anew.program.program import Program, Step, Task
from anew.values import Value
from anew.views.routing_words import choices_text

_PLAYED_AS = "noop"


def scripted_people(program: Program, script: Script) -> Program:
    """The program to play: tasks without a tool that are scripted with outcomes are calls."""
    changed = {
        step.name: replace(step, tasks=tuple(_played(step, task, script) for task in step.tasks))
        for step in program.steps.values()
        if any(_gives_outcomes(step, task, script) for task in step.tasks)
    }
    return replace(program, steps={**program.steps, **changed}) if changed else program


def _played(step: Step, task: Task, script: Script) -> Task:
    return replace(task, kind=_PLAYED_AS) if _gives_outcomes(step, task, script) else task


def _gives_outcomes(step: Step, task: Task, script: Script) -> bool:
    if not kind_named(task.kind).waits_for_others:
        return _is_unable(task) and any(script.entries_of(step.name, task.label))
    entries = script.entries_of(step.name, task.label)
    if task.outcome_from is OutcomeSource.SIGNAL:
        return any(not entry.is_signal for entry in entries)
    return any(entry.answer is None for entry in entries)


def _is_unable(task: Task) -> bool:
    """Whether it stands for a call that lacks a part of its configuration, and always fails."""
    if task.outcome_from is not OutcomeSource.RELAY or not task.inputs.is_constant:
        return False
    said = task.inputs.source.get("outcome") if isinstance(task.inputs.source, dict) else None
    return isinstance(said, dict) and said.get("verdict") == Verdict.FAILURE


def misfit(choices: Sequence[str], answer: str) -> str | None:
    """Why nobody would take this answer; None when it fits."""
    if chosen(choices, answer) is not None:
        return None
    if not choices:
        return "is empty"
    several = matching(choices, answer)
    if several:
        return f"fits several of the choices: {choices_text(several)}"
    return f"{answer[:80]!r} is none of the choices: {choices_text(list(choices))}"


def misfit_of_person(entry: ScriptEntry, inputs: Value, now: int) -> str | None:
    """As `misfit`, for a task that would have asked."""
    asked = asked_by(inputs, now)
    if entry.answer is None or not isinstance(asked, Question):
        return None
    return misfit(asked.choices, entry.answer)


def outcome_of_others(kind: str, entry: ScriptEntry, inputs: Value, now: int) -> Outcome:
    """What the entry gives a task that would have waited for a person or a signal."""
    if kind_named(kind).outcome_from is OutcomeSource.PERSON:
        return outcome_of_person(entry, inputs, now)
    return outcome_of_signal(entry.said["signal"]) if entry.is_signal else entry.outcome(now)


def outcome_of_person(entry: ScriptEntry, inputs: Value, now: int) -> Outcome:
    """What the entry gives a task that would have asked a person."""
    if entry.answer is None:
        return entry.outcome(now)
    asked = asked_by(inputs, now)
    if not isinstance(asked, Question):
        return outcome_of(error=asked)
    label = chosen(asked.choices, entry.answer)
    if label is None:
        return entry.outcome(now)
    return outcome_of_answer(entry.answer, label if asked.choices else None, BY_SCRIPT)
