"""What can be done to a run: cancel, pause, resume, skip waits, retry, fork, answer questions."""

from __future__ import annotations

from msgspec import Struct

from anew.engine.state import FINAL, RunStatus
from anew.errors import ConfigError
from anew.runtime.command_executor import execute
from anew.runtime.commands import CancelRun, PauseRun, ResumeRun, SkipWaits
from anew.runtime.json_rows import question_row
from anew.runtime.questions import open_questions
from anew.store import RunId, RunRow
from anew.surfaces.api import forks, shapes
from anew.surfaces.api.endpoint import Act, Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal


async def cancel(asked: Asked) -> Reply:
    """End a run and its children; one that has ended stays as it is."""
    wanted = await asked.json(shapes.Reason, shapes.Reason())
    row = await asked.row()
    return await changed(asked, CancelRun(run=str(row.run), reason=wanted.reason))


async def pause(asked: Asked) -> Reply:
    wanted = await asked.json(shapes.Reason, shapes.Reason())
    row = await asked.row()
    return await changed(asked, PauseRun(run=str(row.run), reason=wanted.reason))


async def resume(asked: Asked) -> Reply:
    await asked.json(shapes.Nothing, shapes.Nothing())
    row = await asked.row()
    return await changed(asked, ResumeRun(run=str(row.run)))


class SkipWanted(Struct, forbid_unknown_fields=True):
    """Which waits to end: by default all of the run's for a retry, a jump or a sleep."""

    step: shapes.Name | None = None
    visit: shapes.Sequence | None = None
    iteration: shapes.Sequence | None = None
    by: shapes.LabelText | None = None


async def skip(asked: Asked) -> Reply:
    """End what a run waits for; what waits for nothing of the kind stays as it is."""
    wanted = await asked.json(SkipWanted, SkipWanted())
    row = await asked.row()
    return await changed(
        asked,
        SkipWaits(
            run=str(row.run),
            step=wanted.step,
            visit=wanted.visit,
            iteration=wanted.iteration,
            by=wanted.by,
        ),
    )


async def changed(asked: Asked, command: CancelRun | PauseRun | ResumeRun | SkipWaits) -> Reply:
    """Execute a command, and tell how its run stands then and whether it did anything."""
    done = await execute(asked.engine, command)
    now = await asked.run_row(command.run)
    is_changed = done["changed"] if "changed" in done else bool(done["skipped"])
    return Reply({"run": command.run, "status": now.status.value, "changed": is_changed})


async def list_questions(asked: Asked) -> Reply:
    """What people are asked by a run, and by the children it waits for."""
    row = await asked.row()
    found = [] if row.status in FINAL else await open_questions(asked.engine.database, row.run)
    return Reply({"questions": [question_row(question) for question in found]})


async def answer(asked: Asked) -> Reply:
    given = await asked.json(shapes.AnswerGiven)
    row = await asked.row()
    return await take_answer(asked, row, given, asking=row.run)


async def take_answer(
    asked: Asked, row: RunRow, given: shapes.AnswerGiven, *, asking: RunId
) -> Reply:
    """Keep an answer and go on with the run; Refusal when nobody waits for it, or it does not fit.

    `asking` is the run whose question `given.asked` names: this run, or a child.
    """
    engine, seen = asked.engine, given.asked
    named = None if seen is None else asking
    try:
        question = await engine.people.answer(
            row.run, given.answer, step=given.step, by=given.by, asked=seen, asking=named
        )
    except ConfigError as error:
        now = await asked.run_row(str(row.run))
        is_open = now.status not in FINAL and await _is_asked(asked, row, seen, named)
        raise Refusal("unfit-answer" if is_open else "conflict", str(error)) from error
    if row.status is not RunStatus.PAUSED:
        await engine.adopt([row.run])
    now = await asked.run_row(str(row.run))
    content = {"run": str(row.run), "status": now.status.value, "question": question_row(question)}
    return Reply(content)


async def _is_asked(asked: Asked, row: RunRow, seen: int | None, asking: RunId | None) -> bool:
    """Whether what was to be answered is open: that question, or where none was named any."""
    found = await open_questions(asked.engine.database, row.run)
    return any(seen is None or (one.run, one.asked) == (asking, seen) for one in found)


_TAG = "actions"
_REFUSALS = ("not-found", "conflict", "too-large", "not-json")


def _change(word: str, act: Act, summary: str, body: type) -> Endpoint:
    return Endpoint(
        "POST",
        f"/api/v1/runs/{{run}}/{word}",
        act,
        summary,
        _TAG,
        {200: shapes.Changed},
        body=body,
        has_optional_body=True,
        refusals=_REFUSALS,
    )


ENDPOINTS = (
    _change("cancel", cancel, "End a run and its children", shapes.Reason),
    _change("pause", pause, "Let a run start nothing more for now", shapes.Reason),
    _change("resume", resume, "Go on with a run", shapes.Nothing),
    _change("skip", skip, "End what a run waits for: a retry, a jump, a sleep", SkipWanted),
    *forks.ENDPOINTS,
    Endpoint(
        "GET",
        "/api/v1/runs/{run}/questions",
        list_questions,
        "List what people are asked",
        _TAG,
        {200: shapes.Questions},
        refusals=("not-found",),
    ),
    Endpoint(
        "POST",
        "/api/v1/runs/{run}/answer",
        answer,
        "Answer a question of a run",
        _TAG,
        {200: shapes.AnswerTaken},
        body=shapes.AnswerGiven,
        refusals=(*_REFUSALS, "unfit-answer"),
    ),
)
