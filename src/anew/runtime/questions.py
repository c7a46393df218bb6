"""The questions a run and its children have open, and whether anything but people moves the run.

Reads what is durable, so that a second terminal sees the same as the owner of the database. Which
answer fits which question is the engine's to say (`engine.questions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from msgspec import Struct

from anew.engine.events import HumanAnswered
from anew.engine.moments import moment_text
from anew.engine.questions import accelerator, chosen, matching, pending, plain_label
from anew.engine.state import RunState, StepRunKey
from anew.errors import ConfigError
from anew.runtime.damage import folded
from anew.runtime.families import NoSuchRun, families, unfinished_runs
from anew.runtime.run_logs import read_log
from anew.store import Archive, Database, JobRow, RunId, Store, WaitReason
from anew.stores.damage import DamagedRun

# What a run is kept from going on by when only people and signals can help.
_FROM_OUTSIDE = frozenset({WaitReason.PERSON, WaitReason.SIGNAL})
_PUT_ASIDE = _FROM_OUTSIDE | {WaitReason.CHILD}


class OpenQuestion(Struct, frozen=True):
    """A question nobody has answered yet. Without `choices` any text is an answer.

    `asked` tells it from the next question of the same step-run.
    """

    run: RunId
    key: StepRunKey
    task: str
    question: str
    choices: list[str]
    deadline: int | None
    asked: int


def questions_of(run: RunId, state: RunState) -> list[OpenQuestion]:
    """The open questions of one run, oldest first."""
    found = []
    for one in pending(state):
        asking = state.step_run(one.key)
        assert asking is not None
        found.append(
            OpenQuestion(
                run,
                one.key,
                one.task,
                one.question,
                one.choices,
                one.deadline,
                asking.started_seq,
            )
        )
    return found


async def open_questions(database: Database, run: RunId) -> list[OpenQuestion]:
    """Those of a run and of the children it waits for."""
    found: list[OpenQuestion] = []
    for member in await families(database.archive, [run]):
        state = await readable_state(database.store, member)
        found.extend([] if state is None else questions_of(member, state))
    return found


async def stored_state(store: Store, run: RunId) -> RunState:
    """The state of a run as the store has it."""
    stored = await store.load(run)
    if stored is None:
        raise NoSuchRun(run)
    return folded(run, stored.events, stored.snapshot)


async def readable_state(store: Store, run: RunId) -> RunState | None:
    """The same; None where the run is damaged, and waits for nobody whom one could tell."""
    try:
        return await stored_state(store, run)
    except DamagedRun:
        return None


async def is_blocked(archive: Archive, run: RunId, now: int) -> bool:
    """Whether only people or signals can move a run on: it, or the children it waits for, wait.

    A question whose deadline has passed goes on by itself.
    """
    aside = await _put_aside(archive, run, now)
    if not any(job.reason in _FROM_OUTSIDE for job in aside):
        return False
    # The rows are read one run after the other: a child that ended meanwhile shows now.
    return await _put_aside(archive, run, now) == aside


async def _put_aside(archive: Archive, run: RunId, now: int) -> list[JobRow]:
    """The jobs of a run and its children; none as soon as one of them can be worked on."""
    found: list[JobRow] = []
    todo = [run]
    while todo:
        member = todo.pop()
        jobs = await archive.jobs(member)
        if not all(_is_aside(job, now) for job in jobs):
            return []
        found.extend(jobs)
        if any(job.reason is WaitReason.CHILD for job in jobs):
            todo.extend(child.run for child in await unfinished_runs(archive, member))
    return found


def _is_aside(job: JobRow, now: int) -> bool:
    is_due = job.due_at is not None and job.due_at <= now
    return job.reason in _PUT_ASIDE and job.leased_until is None and not is_due


def meant(
    questions: Sequence[OpenQuestion],
    run: RunId,
    step: str | None,
    *,
    asked: int | None = None,
    asking: RunId | None = None,
) -> OpenQuestion:
    """The question an answer is for; ConfigError when that is none or not clear.

    `asked` names one; of which run, `asking` says, as each counts its own events.
    """
    found = [one for one in questions if step is None or one.key.step == step]
    if asked is not None:
        return _named(found, run, asked, asking)
    steps = ", ".join(dict.fromkeys(one.key.step for one in questions))
    if not found:
        raise ConfigError(f"step {step!r} of run {run} has no open question now; open: {steps}.")
    if len(found) > 1 and step is None:
        listed = "; ".join(f"`--step {quote(one.key.step)}` ({one.question})" for one in found)
        raise ConfigError(f"run {run} has {len(found)} open questions. Name one: {listed}")
    return found[0]  # of several iterations of one step, the one that has waited longest


def _named(
    questions: Sequence[OpenQuestion], run: RunId, asked: int, asking: RunId | None
) -> OpenQuestion:
    found = [one for one in questions if one.asked == asked]
    if not found:
        raise answered_already(run)
    of_run = [one for one in found if asking is None or one.run == asking]
    if not of_run:
        raise asked_elsewhere(run, found)
    return of_run[0]


def label_of(question: OpenQuestion, said: str) -> str:
    """The choice an answer means; ConfigError lists the choices when it means none, or several."""
    label = chosen(question.choices, said)
    if label is not None:
        return label
    if not question.choices:
        raise ConfigError("the answer is empty. Type an answer.")
    where, several = f"step {question.key.step}", set(matching(question.choices, said))
    lines = zip(question.choices, choice_lines(question.choices), strict=True)
    fitting = [line for label, line in lines if not several or label in several]
    listed = ", ".join(" ".join(line.split()) for line in fitting)
    if several:
        raise ConfigError(f"{said[:80]!r} fits several choices of {where}: {listed}. Name one.")
    raise ConfigError(f"{said[:80]!r} is none of the choices of {where}. Choose from {listed}.")


def choice_lines(choices: Sequence[str]) -> list[str]:
    """One line per choice: what to type for it, and its label."""
    keys = [accelerator(label) or str(number) for number, label in enumerate(choices, 1)]
    width = max(map(len, keys), default=0)
    pairs = zip(keys, choices, strict=True)
    return [f"[{key}]{' ' * (width - len(key))} {plain_label(label)}" for key, label in pairs]


async def nothing_open(archive: Archive, run: RunId) -> ConfigError:
    """What to tell someone whose answer nobody waits for: who was faster, if someone was."""
    answers = [x for x in await read_log(archive, run) if isinstance(x, HumanAnswered)]
    what = f"run {run} has no open question."
    if answers:
        last = answers[-1]
        by = f" by {last.by}" if last.by else ""
        what = f"{what} That of {last.step} was answered already{by}: {last.label}."
    return ConfigError(f"{what} `anew show {run}` shows what it is doing.")


def asked_elsewhere(run: RunId, found: Sequence[OpenQuestion]) -> ConfigError:
    first = found[0]
    return ConfigError(
        f"run {run} itself has no open question {first.asked}, but run {first.run}, which it "
        "waits for, has one. Answer the run that asks."
    )


def answered_already(run: RunId) -> ConfigError:
    return ConfigError(
        f"the question of run {run} is not open any more: it was answered, or its time was over. "
        f"`anew events {run}` shows what happened."
    )


def too_late(question: OpenQuestion, run: RunId) -> ConfigError:
    """For an answer to a question that is still open only because nobody works on the run."""
    assert question.deadline is not None
    when = moment_text(question.deadline)
    return ConfigError(
        f"the time of the question of step {question.key.step} was over at {when}. "
        f"`anew resume {run}` continues it."
    )
