"""All that the page of a run shows at first sight, as of now or as of any of its events."""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from anew.engine.state import FINAL
from anew.engine.statuses import ActivityKind
from anew.runtime.blocked_on import BlockedOn, blocked_on
from anew.runtime.json_rows import question_row, signal_row
from anew.runtime.keys import shown_key
from anew.runtime.lost_workers import lost_workers
from anew.runtime.questions import questions_of
from anew.runtime.records import CHILDREN_MAX
from anew.runtime.signals import signals_of
from anew.store import RunFilter, RunRow
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.runs import program_of
from anew.values import Object
from anew.views.picture.composing import PictureContext, pictured
from anew.views.picture.shown import Pictured
from anew.views.picture.tracing import Trace
from anew.views.wording import one_line

# What a run and its children ask at once, in one picture, and how long a question may be there.
ASKING_SHOWN_MAX = 50
QUESTION_CHARACTERS_MAX = 1_000
# A program this large is drawn beside the event loop.
_STEPS_DRAWN_AT_ONCE = 100
ENDPOINTS = Endpoints("runs")


class PictureQuery(Struct, forbid_unknown_fields=True):
    """`at`: as of this event, not as of now."""

    at: Annotated[int, Meta(ge=1, le=shapes.SEQUENCE_MAX)] | None = None


class RunPicture(Pictured, frozen=True, kw_only=True):
    """A whole run as of the event `at`; `events` is the newest there is.

    Of `ctx`, `workload`, `result` and `error` large parts are left out, each with a marker.
    """

    questions: list[shapes.QuestionRow]
    signals: list[shapes.AwaitedRow]


@ENDPOINTS.get(
    "/runs/{run}/picture",
    "Show a whole run as of now, or as of one of its events",
    RunPicture,
    query=PictureQuery,
)
async def picture(request: ApiRequest) -> JsonResponse:
    """One object, small enough to be asked for again and again."""
    at = request.query(PictureQuery).at
    row = await request.run()
    if at is not None and at > row.version:
        detail = f"run {row.run} has {row.version:,} events; there is no event {at:,} yet"
        raise ApiError("not-found", detail)
    program = await program_of(request.engine, row)
    children = await _children(request, row)
    stored = await request.engine.database.catalog.get(row.digest)
    versions = await request.engine.database.statistics.versions({row.digest})
    async with request.service.traces.following(row, program, at=at) as trace:
        jobs = [] if at is not None else await request.engine.database.archive.jobs(row.run)
        beside = PictureContext(
            row=row,
            now=request.engine.database.clock.now() if at is None else trace.progress.last_at,
            is_past=at is not None,
            jobs=jobs,
            lost=await lost_workers(request.engine.database, jobs),
            children=[one for one in children if at is None or _was_there(one, trace)],
            version=versions.get(row.digest),
            file=None if stored is None else stored.file,
            key=shown_key(row.key),
        )
        still = await _open_in(request, row, trace, is_past=at is not None)
        return JsonResponse(await _drawn(trace, beside, still))


async def _drawn(trace: Trace, beside: PictureContext, still: BlockedOn) -> RunPicture:
    """Beside the event loop where there is much to draw."""
    steps = len(trace.program.steps) if trace.program else len(trace.progress.steps)
    if steps <= _STEPS_DRAWN_AT_ONCE:
        found = pictured(trace, beside)
    else:
        found = await asyncio.to_thread(pictured, trace, beside)
    questions = [_question(question_row(one)) for one in still.questions[:ASKING_SHOWN_MAX]]
    signals = [shapes.AwaitedRow(**signal_row(one)) for one in still.signals[:ASKING_SHOWN_MAX]]
    return RunPicture(**asdict(found), questions=questions, signals=signals)


def _question(row: Object) -> shapes.QuestionRow:
    text = row["question"]
    if len(text) > QUESTION_CHARACTERS_MAX:
        row["question"] = one_line(text, characters_max=QUESTION_CHARACTERS_MAX)
    return shapes.QuestionRow(**row)


async def _children(request: ApiRequest, row: RunRow) -> list[RunRow]:
    wanted = RunFilter(parent=row.run, limit=CHILDREN_MAX)
    return await request.engine.database.archive.runs(wanted)


def _was_there(child: RunRow, trace: Trace) -> bool:
    """A child begins with its step's task, whose start is in the log of the parent before it."""
    return child.created_at <= trace.progress.last_at


async def _open_in(request: ApiRequest, row: RunRow, trace: Trace, *, is_past: bool) -> BlockedOn:
    """What is open in this run; as of now also in the children it waits for."""
    if trace.state.status in FINAL:
        return BlockedOn([], [])
    waits_for_child = any(one.doing is ActivityKind.CHILD for one in trace.progress.activities())
    if waits_for_child and not is_past:
        found = await blocked_on(request.engine.database, row.run)
        return found or BlockedOn([], [])
    return BlockedOn(questions_of(row.run, trace.state), signals_of(row.run, trace.state))
