"""One action on many runs: how many it would change, and what became of each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from anew.errors import AnewError, EngineBug
from anew.runtime.bulk import (
    BULK_RUNS_MAX,
    BULK_SECONDS_MAX,
    ActionRefused,
    BulkAction,
    BulkOperation,
    act_on_all,
    preview_of,
    unknown,
)
from anew.store import RunFilter, RunId, StoreError
from anew.surfaces.api.endpoint import Endpoints, JsonResponse, log_failure, log_unavailable
from anew.surfaces.api.problems import ApiError, api_error_of
from anew.surfaces.api.request import ApiRequest, read_query, run_in_query
from anew.surfaces.api.run_list import RunSearch, run_filter
from anew.surfaces.api.shapes import LabelText, RunText

# Runs that one request may name.
BULK_NAMED_RUNS_MAX = 1_000
_WHAT = "an action on many runs"
FilterValue: TypeAlias = str | int | float | bool | list[str]
ENDPOINTS = Endpoints("actions")


class BulkRequest(Struct, forbid_unknown_fields=True):
    """These `runs`, or those of a `filter` in the words of the query of GET /api/v1/runs.

    `before` is the cursor `next` of the answer before. `dry_run` only counts. A `reason` is for
    cancel and pause, `by` (who wants it) for skip.
    """

    action: BulkAction
    runs: Annotated[list[RunText], Meta(max_length=BULK_NAMED_RUNS_MAX)] | None = None
    filter: dict[str, FilterValue] | None = None
    reason: LabelText | None = None
    by: LabelText | None = None
    before: RunText | None = None
    dry_run: bool = False


class BulkRefused(Struct):
    """`retried_as` is the run that takes this one up already."""

    run: RunText
    detail: str
    retried_as: RunText | None = None


class BulkDone(Struct):
    """`count` runs are meant, with `dry_run`, and the action can change `able` of them.

    Without it, `count` were looked at. `next` is where to go on, null when all are done. Runs that
    were named and are not there are `refused` by the first answer, and are in no count.
    """

    count: int
    able: int
    changed: list[RunText]
    refused: list[BulkRefused]
    next: RunText | None


@ENDPOINTS.post(
    "/runs/bulk",
    "Apply one action to many runs, or count how many it would change",
    BulkDone,
    body=BulkRequest,
)
async def bulk(request: ApiRequest) -> JsonResponse:
    wanted = await request.json(BulkRequest)
    BulkOperation(wanted.action, wanted.reason, wanted.by).check()
    meant = await _meant(request, wanted)
    if wanted.dry_run:
        return JsonResponse(await _foreseen(request, wanted, meant))
    return JsonResponse(await _done(request, wanted, meant))


async def _meant(request: ApiRequest, wanted: BulkRequest) -> RunFilter:
    if (wanted.runs is None) == (wanted.filter is None):
        raise ApiError("bad-request", "say which runs: name `runs`, or give a `filter`")
    if wanted.filter is not None:
        said = read_query(_words(wanted.filter), RunSearch)
        meant = await run_filter(request, said)
    else:
        found = [run_in_query(run) for run in dict.fromkeys(wanted.runs or [])]
        meant = RunFilter(runs=[run for run in found if run is not None])
    return replace(meant, before=run_in_query(wanted.before))


def _words(said: Mapping[str, FilterValue]) -> Iterator[tuple[str, str]]:
    """A filter as the words of a query."""
    for name, value in said.items():
        for one in value if isinstance(value, list) else [value]:
            yield name, str(one).lower() if isinstance(one, bool) else f"{one}"


async def _foreseen(request: ApiRequest, wanted: BulkRequest, meant: RunFilter) -> BulkDone:
    async with request.service.reading:
        found = await preview_of(request.engine.database.statistics, wanted.action, meant)
        refused = await _missing(request, meant)
    return BulkDone(found.count, found.able, [], refused, None)


async def _missing(request: ApiRequest, meant: RunFilter) -> list[BulkRefused]:
    """Named runs that are not there; told once, before the first page."""
    if meant.runs is None or meant.before is not None:
        return []
    found = await request.engine.database.statistics.points(
        replace(meant, limit=BULK_NAMED_RUNS_MAX)
    )
    missing = unknown(meant.runs, {one.run for one in found})
    return [_refused(request, run, error) for run, error in missing]


async def _done(request: ApiRequest, wanted: BulkRequest, meant: RunFilter) -> BulkDone:
    rows = await request.engine.database.archive.runs(replace(meant, limit=BULK_RUNS_MAX))
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + BULK_SECONDS_MAX
    deed = BulkOperation(wanted.action, wanted.reason, wanted.by)
    refused = await _missing(request, meant)
    result = await act_on_all(request.engine, deed, rows, is_over=lambda: loop.time() > ends_at)
    refused += [_refused(request, run, error) for run, error in result.refused]
    is_cut = len(rows) == BULK_RUNS_MAX or result.looked_at < len(rows)
    return BulkDone(
        result.looked_at,
        len(result.changed),
        [str(run) for run in result.changed],
        refused,
        str(result.last) if is_cut else None,
    )


def _refused(request: ApiRequest, run: RunId, error: AnewError) -> BulkRefused:
    retried_as = error.retried_as if isinstance(error, ActionRefused) else None
    told = _public_text(request, error)
    return BulkRefused(str(run), told, None if retried_as is None else str(retried_as))


def _public_text(request: ApiRequest, error: AnewError) -> str:
    """What may be told of it; the rest is in the log of the server."""
    if isinstance(error, EngineBug):
        log_failure(error, _WHAT, request.service)
    elif isinstance(error, StoreError):
        log_unavailable(error, _WHAT, request.service)
    return api_error_of(error).detail
