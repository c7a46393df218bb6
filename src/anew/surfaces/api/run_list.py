"""Lists of runs that people can search: pages of them, how many there are, and all at a glance.

Reads a query against its limits. What its words mean is in `surfaces/run_filters.py`.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict, replace

from anew.engine.moments import NANOSECONDS, moment_text
from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus, WaitReason
from anew.runtime.damage import damage_row
from anew.runtime.json_rows import listed_rows
from anew.store import RunFilter
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.request import ApiRequest, run_in_query
from anew.surfaces.api.shapes import (
    LABEL_FILTERS_MAX,
    RUNS_PAGE_MAX,
    AwaitedRow,
    DamageShown,
    Json,
    LabelFilter,
    Name,
    QuestionRow,
    RunText,
    Version,
)
from anew.surfaces.run_filters import run_filter_of

# What a chart shows of runs; more of them are a cloud.
POINTS_MAX = 2_000
# Of names in the facets: more nobody chooses from.
FACET_PROGRAMS_MAX = 200
WORD_CHARACTERS_MAX = 200
ATTEMPT_MAX = 2**31 - 1

Word: TypeAlias = Annotated[
    str,
    Meta(min_length=1, max_length=WORD_CHARACTERS_MAX, pattern=r"^[^\u0000-\u001f\u007f]+$"),
]
ENDPOINTS = Endpoints("runs")


class RunSearch(Struct, forbid_unknown_fields=True):
    """Which runs. `version` is one of a registered `program`.

    `retried`: only those that another run takes up (true), or only the others (false).
    """

    status: list[RunStatus] = []
    state: list[DetailedStatus] = []
    program: Name | None = None
    version: Version | None = None
    digest: Word | None = None
    retrying: bool = False
    since: Word | None = None
    until: Word | None = None
    running_longer_than: Word | None = None
    attempt: Annotated[int, Meta(ge=1, le=ATTEMPT_MAX)] | None = None
    due_within: Word | None = None
    error_kind: Word | None = None
    fingerprint: Word | None = None
    text: Word | None = None
    label: Annotated[list[LabelFilter], Meta(max_length=LABEL_FILTERS_MAX)] = []
    parent: RunText | None = None
    retried: bool | None = None


class RunsQuery(RunSearch, forbid_unknown_fields=True):
    """A page of them; `before` is the cursor `next` of the page before."""

    limit: Annotated[int, Meta(ge=1, le=RUNS_PAGE_MAX)] = 50
    before: RunText | None = None


class OpenJob(Struct):
    """The open job of a run that says most."""

    reason: WaitReason
    step: str
    attempt: int
    due_at: str | None
    is_leased: bool


class RunListed(Struct):
    run: RunText
    program: str
    digest: str
    version: int | None
    status: RunStatus
    state: DetailedStatus
    error: Json | None
    fingerprint: str | None
    created_at: str
    updated_at: str
    ended_at: str | None
    events: int
    key: str | None
    labels: dict[str, str]
    parent: RunText | None
    open: OpenJob | None
    retried_as: RunText | None
    questions: list[QuestionRow] | UnsetType = UNSET
    signals: list[AwaitedRow] | UnsetType = UNSET
    damage: DamageShown | UnsetType = UNSET


class RunPage(Struct):
    runs: list[RunListed]
    next: RunText | None


class RunFacets(Struct):
    """Of a filter without its states; every state is there."""

    now: str
    total: int
    states: dict[str, int]
    programs: list[str]


class RunPoints(Struct):
    """Each is a run, when it began, its seconds so far, and its state.

    `is_cut`: there are more, and these are the newest.
    """

    points: list[list[str | float]]
    is_cut: bool


@ENDPOINTS.get("/runs", "List runs, newest first", RunPage, query=RunsQuery)
async def list_runs(request: ApiRequest) -> JsonResponse:
    """A page of runs, newest first."""
    said = request.query(RunsQuery)
    wanted = await run_filter(request, said)
    wanted = replace(wanted, before=run_in_query(said.before), limit=said.limit)
    rows = await request.engine.database.archive.runs(wanted)
    listed = await listed_rows(request.engine.database, rows)
    for row, shown in zip(rows, listed, strict=True):
        damage = request.engine.damages.of(row.run)
        if damage is not None:
            shown["damage"] = damage_row(damage)
    is_full = len(rows) == wanted.limit
    return JsonResponse({"runs": listed, "next": str(rows[-1].run) if is_full else None})


async def run_filter(request: ApiRequest, said: RunSearch) -> RunFilter:
    """What the words of a query mean now."""
    wanted = await run_filter_of(asdict(said), request.engine.database, label_option="label=")
    return replace(wanted, parent=run_in_query(said.parent))


@ENDPOINTS.get("/runs/facets", "Count the runs of a filter by state", RunFacets, query=RunSearch)
async def facets(request: ApiRequest) -> JsonResponse:
    """How many runs of a filter there are in each state."""
    database = request.engine.database
    wanted = replace(await run_filter(request, request.query(RunSearch)), states=())
    async with request.service.reading:
        counts = await database.statistics.counts(wanted)
        programs = await database.statistics.programs(FACET_PROGRAMS_MAX)
    return JsonResponse(
        {
            "now": moment_text(database.clock.now()),
            "total": sum(counts.values()),
            "states": {state.value: counts.get(state, 0) for state in DetailedStatus},
            "programs": programs,
        }
    )


@ENDPOINTS.get(
    "/runs/points",
    "List very many runs in brief, newest first",
    RunPoints,
    query=RunSearch,
)
async def points(request: ApiRequest) -> JsonResponse:
    """The newest runs of a filter, and little of each."""
    database = request.engine.database
    wanted = await run_filter(request, request.query(RunSearch))
    async with request.service.reading:
        found = await database.statistics.points(replace(wanted, limit=POINTS_MAX + 1))
    now = database.clock.now()
    rows = [
        (
            str(one.run),
            moment_text(one.created_at),
            max(0, (one.ended_at or now) - one.created_at) / NANOSECONDS,
            one.state.value,
        )
        for one in found[:POINTS_MAX]
    ]
    return JsonResponse({"points": rows, "is_cut": len(found) > POINTS_MAX})
