"""Failed runs, grouped by what went wrong."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from anew.runtime.run_search import failure_rows
from anew.store import FailureFilter
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.run_list import Word
from anew.surfaces.api.shapes import Name, RunText
from anew.surfaces.moments import parsed_moment

FAILURE_GROUPS_MAX = 200
ENDPOINTS = Endpoints("runs")


class FailuresQuery(Struct, forbid_unknown_fields=True):
    """Runs that failed between two moments; `retried`: also those that were retried."""

    since: Word | None = None
    until: Word | None = None
    program: Name | None = None
    retried: bool = False
    limit: Annotated[int, Meta(ge=1, le=FAILURE_GROUPS_MAX)] = 50


class FailureGroup(Struct):
    """Runs whose errors have one fingerprint; `message` and `step` are of the newest.

    `count` is without the `retried` ones, unless they are asked for.
    """

    fingerprint: str
    kind: str
    message: str
    step: str | None
    programs: list[str]
    count: int
    dead: int
    retried: int
    first_at: str
    last_at: str
    newest: RunText


class FailureGroups(Struct):
    groups: list[FailureGroup]
    is_cut: bool


@ENDPOINTS.get(
    "/failures", "Group failed runs by what went wrong", FailureGroups, query=FailuresQuery
)
async def list_failures(request: ApiRequest) -> JsonResponse:
    """The group that failed last comes first."""
    said, database = request.query(FailuresQuery), request.engine.database
    now = database.clock.now()
    wanted = FailureFilter(
        since=None if said.since is None else parsed_moment(said.since, now=now),
        until=None if said.until is None else parsed_moment(said.until, now=now),
        program=said.program,
        limit=said.limit + 1,
        with_retried=said.retried,
    )
    async with request.service.reading:
        groups = await failure_rows(database, wanted)
    return JsonResponse({"groups": groups[: said.limit], "is_cut": len(groups) > said.limit})
