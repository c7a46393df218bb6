"""Make a new run out of the beginning of another: fork it at an event, or retry it from a step.

With `dry_run` nothing is started, and the answer says what would be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from anew.engine.state import RunStatus
from anew.lab.fork_preview import fork_preview
from anew.runtime.forks import ForkPlan, ForkPoint, ForkRequest, Unfit
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE
from anew.runtime.run_starts import Started
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.runs import (
    IDEMPOTENCY_KEY,
    RunStartRequest,
    document_for,
    one_key,
    started_response,
)
from anew.surfaces.api.shapes import (
    KeyText,
    MisfitRow,
    Name,
    RunText,
    Sequence,
    StartedRun,
)
from anew.values import Object
from anew.views.forking import AgainRow, ReusedRow, UndoneRow, misfit_row, preview_row

ENDPOINTS = Endpoints("actions")
_KEY = {IDEMPOTENCY_KEY: "the same as `key`"}


class RetryRequest(Struct, forbid_unknown_fields=True):
    step: Name | None = None
    key: KeyText | None = None
    dry_run: bool = False


class RunForkRequest(RunStartRequest, forbid_unknown_fields=True):
    """Share the events up to `at`, or those before a `visit` of `step`; by default all.

    `program` (registered) or `document` to continue under, the run's own by default. `workload` is
    laid over the run's. `cancel` ends the old run once the new one is there.
    """

    at: Sequence | None = None
    step: Name | None = None
    visit: Sequence | None = None
    cancel: bool = False
    dry_run: bool = False


class EffectRow(Struct):
    """`key`: whether the call has no idempotency key, the document's own, or a new one."""

    step: str
    task: str
    kind: str
    what: str
    times: int
    key: Literal["none", "own", "new"]
    is_certain: bool


class PreviewShown(Struct):
    """What a fork or a retry keeps and does again; as `anew fork --dry-run --json` prints it."""

    run: RunText
    at: int
    asked: int
    reused: list[ReusedRow]
    again: list[AgainRow]
    undone: list[UndoneRow]
    effects: list[EffectRow]
    more_effects: int
    notes: list[str]
    misfits: list[MisfitRow]
    differs_at: int | None


class RunForked(Struct):
    """The run of this key, which was there already; with `dry_run` only the `preview`."""

    run: RunText | UnsetType = UNSET
    status: RunStatus | UnsetType = UNSET
    preview: PreviewShown | UnsetType = UNSET


@ENDPOINTS.post(
    "/runs/{run}/retry",
    "Run again from a step, by default the one that failed",
    answers={201: StartedRun, 200: RunForked},
    body=RetryRequest,
    has_optional_body=True,
    headers=_KEY,
    problems=("conflict",),
)
async def retry(request: ApiRequest) -> JsonResponse:
    """A new run that goes on where a step of this one began."""
    wanted = await request.json(RetryRequest, RetryRequest())
    key = one_key(wanted.key, request.header(IDEMPOTENCY_KEY))
    row = await request.run()
    if wanted.dry_run:
        where = ForkPoint(step=wanted.step, is_failure=True)
        return await _previewed(await request.engine.forks.plan(row.run, where), {})
    return await _started(request, request.engine.retry(row.run, wanted.step, key=key))


@ENDPOINTS.post(
    "/runs/{run}/fork",
    "Start a run that shares the log up to an event",
    answers={201: StartedRun, 200: RunForked},
    body=RunForkRequest,
    has_optional_body=True,
    headers=_KEY,
    problems=("conflict", "bad-document"),
)
async def fork(request: ApiRequest) -> JsonResponse:
    """A new run that shares the log of this one up to an event."""
    wanted = await request.json(RunForkRequest, RunForkRequest())
    key = one_key(wanted.key, request.header(IDEMPOTENCY_KEY))
    row = await request.run()
    _check_options(wanted)
    document = await document_for(request, wanted)
    where = ForkPoint(wanted.at, wanted.step, wanted.visit)
    if wanted.dry_run:
        plan = await request.engine.forks.plan(row.run, where, document)
        return await _previewed(plan, wanted.workload)
    order = ForkRequest(
        row.run, where, document, wanted.workload, key, wanted.labels, cancels=wanted.cancel
    )
    return await _started(request, request.engine.fork(order))


def _check_options(wanted: RunForkRequest) -> None:
    """ApiError for options that contradict each other, or that need one that is missing."""
    if wanted.at is not None and wanted.step is not None:
        raise ApiError("bad-request", "send `at`, or the `step` to start with")
    if wanted.visit is not None and wanted.step is None:
        raise ApiError("bad-request", "`visit` says which visit of a `step`: send that too")
    if wanted.version is not None and wanted.program is None:
        raise ApiError("bad-request", "`version` says which one of a `program`: send that too")


async def _previewed(plan: ForkPlan, workload: Object) -> JsonResponse:
    """Derived beside the event loop where the log is long: others wait for that."""
    if len(plan.log) <= EVENTS_FOLDED_AT_ONCE:
        preview = fork_preview(plan, workload)
    else:
        preview = await asyncio.to_thread(fork_preview, plan, workload)
    return JsonResponse({"preview": preview_row(preview)})


async def _started(request: ApiRequest, starting: Awaitable[Started]) -> JsonResponse:
    try:
        started = await starting
    except Unfit as unfit:
        rows = [misfit_row(found) for found in unfit.misfits]
        raise ApiError("conflict", str(unfit), misfits=rows) from unfit
    new = await request.find_run(str(started.run))
    return started_response(started, new.status)
