"""What can be done to a run: cancel, pause, resume, skip waits, answer questions."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from anew.engine.state import FINAL, RunStatus
from anew.errors import ConfigError
from anew.runtime.command_executor import execute
from anew.runtime.commands import CancelRun, PauseRun, ResumeRun, SkipWaits
from anew.runtime.json_rows import question_row
from anew.runtime.questions import open_questions
from anew.store import RunId, RunRow
from anew.surfaces.api.endpoint import Decorator, Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.shapes import (
    Empty,
    LabelText,
    Name,
    QuestionRow,
    RunText,
    Sequence,
)
from anew.values import Object

ENDPOINTS = Endpoints("actions")
RunChange: TypeAlias = CancelRun | PauseRun | ResumeRun | SkipWaits


class ReasonRequest(Struct, forbid_unknown_fields=True):
    reason: LabelText | None = None


class SkipRequest(Struct, forbid_unknown_fields=True):
    """Which waits to end: by default all of the run's for a retry, a jump or a sleep."""

    step: Name | None = None
    visit: Sequence | None = None
    iteration: Sequence | None = None
    by: LabelText | None = None


class AnswerRequest(Struct, forbid_unknown_fields=True):
    """`asked` is that of the question's row, at the run of that row."""

    answer: str
    step: Name | None = None
    by: LabelText | None = None
    asked: Sequence | None = None


class Changed(Struct):
    """`changed` is false when there was nothing left to change."""

    run: RunText
    status: RunStatus
    changed: bool


class AnswerTaken(Struct):
    run: RunText
    status: RunStatus
    question: QuestionRow


class Questions(Struct):
    questions: list[QuestionRow]


def _change(path: str, summary: str, body: type[Struct]) -> Decorator:
    row = {"body": body, "has_optional_body": True, "problems": ("conflict",)}
    return ENDPOINTS.post(path, summary, Changed, **row)


@_change("/runs/{run}/cancel", "End a run and its children", ReasonRequest)
async def cancel(request: ApiRequest) -> JsonResponse:
    """End a run and its children; one that has ended stays as it is."""
    wanted = await request.json(ReasonRequest, ReasonRequest())
    row = await request.run()
    return await _changed(request, CancelRun(run=str(row.run), reason=wanted.reason))


@_change("/runs/{run}/pause", "Let a run start nothing more for now", ReasonRequest)
async def pause(request: ApiRequest) -> JsonResponse:
    wanted = await request.json(ReasonRequest, ReasonRequest())
    row = await request.run()
    return await _changed(request, PauseRun(run=str(row.run), reason=wanted.reason))


@_change("/runs/{run}/resume", "Resume a run", Empty)
async def resume(request: ApiRequest) -> JsonResponse:
    await request.json(Empty, Empty())
    row = await request.run()
    return await _changed(request, ResumeRun(run=str(row.run)))


@_change("/runs/{run}/skip", "End what a run waits for: a retry, a jump, a sleep", SkipRequest)
async def skip(request: ApiRequest) -> JsonResponse:
    """End what a run waits for; what waits for nothing of the kind stays as it is."""
    wanted = await request.json(SkipRequest, SkipRequest())
    row = await request.run()
    return await _changed(request, SkipWaits(run=str(row.run), **asdict(wanted)))


async def _changed(request: ApiRequest, command: RunChange) -> JsonResponse:
    status, is_changed = await change(request, command)
    return JsonResponse({"run": command.run, "status": status.value, "changed": is_changed})


async def change(request: ApiRequest, command: RunChange) -> tuple[RunStatus, bool]:
    """Execute a command: the status of its run then, and whether anything was changed."""
    done = await execute(request.engine, command)
    is_changed = done["changed"] if "changed" in done else bool(done["skipped"])
    return (await request.find_run(command.run)).status, is_changed


async def status_now(request: ApiRequest, row: RunRow) -> RunStatus:
    return (await request.find_run(str(row.run))).status


@ENDPOINTS.get("/runs/{run}/questions", "List what people are asked", Questions)
async def list_questions(request: ApiRequest) -> JsonResponse:
    """What people are asked by a run, and by the children it waits for."""
    row = await request.run()
    found = [] if row.status in FINAL else await open_questions(request.engine.database, row.run)
    return JsonResponse({"questions": [question_row(question) for question in found]})


@ENDPOINTS.post(
    "/runs/{run}/answer",
    "Answer a question of a run",
    AnswerTaken,
    body=AnswerRequest,
    problems=("conflict", "unfit-answer"),
)
async def answer(request: ApiRequest) -> JsonResponse:
    given = await request.json(AnswerRequest)
    row = await request.run()
    question = await take_answer(request, row, given, asking=row.run)
    status = await status_now(request, row)
    return JsonResponse({"run": str(row.run), "status": status.value, "question": question})


async def take_answer(
    request: ApiRequest, row: RunRow, given: AnswerRequest, *, asking: RunId
) -> Object:
    """Keep an answer and let the run continue; ApiError when nobody waits for it, or it is unfit.

    `asking` is the run whose question `given.asked` names: this run, or a child. The question's
    row comes back.
    """
    engine, seen = request.engine, given.asked
    named = None if seen is None else asking
    try:
        question = await engine.people.answer(
            row.run, given.answer, step=given.step, by=given.by, asked=seen, asking=named
        )
    except ConfigError as error:
        is_over = await status_now(request, row) in FINAL
        is_open = not is_over and await _is_open(request, row, seen, named)
        raise ApiError("unfit-answer" if is_open else "conflict", str(error)) from error
    if row.status is not RunStatus.PAUSED:
        await engine.adopt([row.run])
    return question_row(question)


async def _is_open(
    request: ApiRequest, row: RunRow, seen: int | None, asking: RunId | None
) -> bool:
    """Whether what was to be answered is open: that question, or where none was named any."""
    found = await open_questions(request.engine.database, row.run)
    return any(seen is None or (one.run, one.asked) == (asking, seen) for one in found)
