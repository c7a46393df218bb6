"""Every attempt of a run with the decision about it, page by page; and one with its data."""

from __future__ import annotations

from bisect import bisect_right
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import asdict

from anew.engine.events import Event, TaskProcessed, TaskRetryExhausted, TaskStarted
from anew.engine.statuses import AttemptStatus
from anew.store import RunRow
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.runs import program_of
from anew.values import Object, merge_deep
from anew.views.attempt_rows import Attempt, AttemptBook, AttemptShown

ATTEMPTS_PAGE_MAX = 1_000
ENDPOINTS = Endpoints("runs")


class AttemptsQuery(Struct, forbid_unknown_fields=True):
    """Which attempts; `after` is the `next` of the page before."""

    step: shapes.Name | None = None
    task: shapes.Name | None = None
    status: list[AttemptStatus] = []
    after: shapes.Sequence = 0
    limit: Annotated[int, Meta(ge=1, le=ATTEMPTS_PAGE_MAX)] = 100


class AttemptPage(Struct):
    """In the order they began; `next` is null when this was all there is."""

    attempts: list[AttemptShown]
    next: int | None


class AttemptWhole(AttemptShown, frozen=True, kw_only=True):
    """An attempt with what it was given and what came back.

    `patches` has what was written then, below `local`, `ctx` and `iter`.
    """

    inputs: Any
    result: Any
    helpers: Object
    patches: Object
    logs: Object


@ENDPOINTS.get(
    "/runs/{run}/attempts",
    "List the attempts of a run, with the decision about each",
    AttemptPage,
    query=AttemptsQuery,
)
async def list_attempts(request: ApiRequest) -> JsonResponse:
    wanted = request.query(AttemptsQuery)
    row = await request.run()
    program = await program_of(request.engine, row)
    async with request.service.traces.following(row, program) as trace:
        return JsonResponse(_page(trace.book, wanted))


def _page(book: AttemptBook, wanted: AttemptsQuery) -> AttemptPage:
    first = bisect_right(book.attempts, wanted.after, key=lambda attempt: attempt.seq)
    found: list[Attempt] = []
    for index in range(first, len(book.attempts)):
        if len(found) == wanted.limit:
            return AttemptPage([book.row(one) for one in found], found[-1].seq)
        if _is_wanted(book.attempts[index], wanted):
            found.append(book.attempts[index])
    return AttemptPage([book.row(one) for one in found], None)


def _is_wanted(attempt: Attempt, wanted: AttemptsQuery) -> bool:
    return (
        wanted.step in (None, attempt.step)
        and wanted.task in (None, attempt.task)
        and (not wanted.status or attempt.status in wanted.status)
    )


@ENDPOINTS.get(
    "/runs/{run}/attempts/{seq}",
    "Show one attempt with its inputs, its outcome and its logs",
    AttemptWhole,
)
async def show_attempt(request: ApiRequest) -> JsonResponse:
    row = await request.run()
    seq = _sequence(request.path("seq"))
    program = await program_of(request.engine, row)
    async with request.service.traces.following(row, program) as trace:
        place = bisect_right(trace.book.attempts, seq, key=lambda one: one.seq) - 1
        attempt = trace.book.attempts[place] if place >= 0 else None
        if attempt is None or attempt.seq != seq:
            detail = f"run {row.run} has no attempt that event {seq} started"
            raise ApiError("not-found", detail)
        shown, decided = trace.book.row(attempt), attempt.decided_seq
    events = [await _event(request, row, number) for number in (seq, shown.ended_seq, decided)]
    return JsonResponse(_whole(shown, *events))


def _sequence(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(shapes.SEQUENCE_MAX))
    if not is_number or int(text) > shapes.SEQUENCE_MAX:
        raise ApiError("bad-request", f"{text[:40]!r} is not the number of an event")
    return int(text)


async def _event(request: ApiRequest, row: RunRow, seq: int | None) -> Event | None:
    if seq is None:
        return None
    page = await request.engine.database.archive.events(row.run, after=seq - 1, limit=1)
    return page[0] if page and page[0].seq == seq else None


def _whole(
    shown: AttemptShown, started: Event | None, ended: Event | None, decided: Event | None
) -> AttemptWhole:
    outcome = ended.outcome if isinstance(ended, TaskProcessed) else None
    patches = ended.patches if isinstance(ended, TaskProcessed) else {}
    if isinstance(decided, TaskRetryExhausted):
        patches = merge_deep(patches, decided.patches)
    return AttemptWhole(
        **asdict(shown),
        inputs=started.inputs if isinstance(started, TaskStarted) else None,
        result=None if outcome is None else outcome.result,
        helpers={} if outcome is None else outcome.helpers,
        patches=patches,
        logs={} if outcome is None else outcome.logs,
    )
