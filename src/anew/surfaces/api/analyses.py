"""What past runs tell of a program: which decisions they exercised, what another would have done.

Logs are read into memory, within limits, and analysed beside the event loop. Nothing is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from anew.engine.events import Event
from anew.lab.cancellation import CancelCheck, until_cancelled
from anew.lab.coverage import Coverage, CoverageTally
from anew.lab.whatif import SAMPLES_DEFAULT, Whatif, whatif
from anew.lab.whatif.lines import answer_lines
from anew.program.program import Program
from anew.runtime.run_logs import read_log
from anew.store import RunFilter
from anew.surfaces.api import shapes
from anew.surfaces.api.documents import DocumentSource
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.past_runs import ANALYSED_EVENTS_MAX, Past, read_past
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.programs import stored
from anew.surfaces.api.request import ApiRequest
from anew.values import Object

COVERAGE_RUNS_MAX = 200
COVERAGE_RUNS_DEFAULT = 50
WHATIF_RUNS_MAX = 50
WHATIF_SAMPLES_MAX = 1_000
# With what is read before, less than a request may take.
STUDY_SECONDS_MAX = 7.0
REASONS_SHOWN = 3
_SEED_MAX = 2**53

T = TypeVar("T")
ENDPOINTS = Endpoints("programs")


class CoverageQuery(Struct, forbid_unknown_fields=True):
    """How many of the newest `runs` of a `version` are looked at."""

    version: shapes.Version | None = None
    runs: Annotated[int, Meta(ge=1, le=COVERAGE_RUNS_MAX)] = COVERAGE_RUNS_DEFAULT


class CoveragePoint(Struct):
    """Something in the document that decides; `lack` says what never happened while `hits` is 0."""

    kind: str
    line: int
    column: int
    what: str
    lack: str
    hits: int


class CoverageShown(Struct):
    """Which decisions the newest `runs` of a version have exercised."""

    name: str
    version: int
    runs: int
    percent: float
    points: list[CoveragePoint]


class WhatifRequest(DocumentSource, forbid_unknown_fields=True, kw_only=True):
    """Runs that ended, and a document that they might have had."""

    runs: Annotated[list[shapes.RunText], Meta(min_length=1, max_length=WHATIF_RUNS_MAX)]
    samples: Annotated[int, Meta(ge=1, le=WHATIF_SAMPLES_MAX)] = SAMPLES_DEFAULT
    seed: Annotated[int, Meta(ge=0, le=_SEED_MAX)] = 0


class WhatifShown(Struct):
    """The JSON of `anew whatif --json`, and its lines of text."""

    report: shapes.Json
    lines: list[str]


async def _in_time(
    request: ApiRequest, study: Callable[[CancelCheck], T], what: str, remedy: str
) -> T:
    try:
        return await request.service.analyses.run(study, seconds=STUDY_SECONDS_MAX)
    except TimeoutError:
        detail = f"{what} takes longer than {STUDY_SECONDS_MAX:g} s here. {remedy}"
        raise ApiError("unavailable", detail) from None


# --- coverage ----------------------------------------------------------------------------------


@ENDPOINTS.get(
    "/programs/{name:path}/coverage",
    "Show which decisions of a program its newest runs have exercised",
    CoverageShown,
    query=CoverageQuery,
    problems=("unavailable",),
)
async def show_coverage(request: ApiRequest) -> JsonResponse:
    """Which rules, arcs and gates of a version its newest runs have exercised."""
    wanted = request.query(CoverageQuery)
    program = await stored(request, request.path("name"), wanted.version)
    document = await request.engine.programs.of(program)
    async with request.service.reading:
        logs = await _newest(request, program.name, program.digest, wanted.runs)
        study = partial(_exercised, document.program, logs)
        what = "counting what these runs exercised"
        coverage = await _in_time(request, study, what, "Ask for fewer runs.")
    head = {"name": program.name, "version": program.version, "runs": len(logs)}
    return JsonResponse({**head, **_covered(coverage)})


async def _newest(request: ApiRequest, name: str, digest: str, limit: int) -> list[list[Event]]:
    """The logs of the newest runs of this very document, as many as fit into memory."""
    archive = request.engine.database.archive
    logs: list[list[Event]] = []
    events = 0
    for row in await archive.runs(RunFilter(program=name, digests=[digest], limit=limit)):
        events += row.version
        if logs and events > ANALYSED_EVENTS_MAX:
            break
        logs.append(await read_log(archive, row.run))
    return logs


def _exercised(
    program: Program, logs: Sequence[list[Event]], cancel_check: CancelCheck
) -> Coverage:
    """In a thread."""
    tally = CoverageTally(program)
    for log in logs:
        tally.add(until_cancelled(log, cancel_check))
    return tally.coverage


def _covered(coverage: Coverage) -> Object:
    points = [{**point.report(), "hits": hits} for point, hits in coverage.hits.items()]
    return {"percent": coverage.percent, "points": points}


# --- what if -----------------------------------------------------------------------------------


@ENDPOINTS.post(
    "/whatif",
    "Say what another document would have made of past runs",
    WhatifShown,
    body=WhatifRequest,
    problems=("not-found", "conflict", "bad-document", "unavailable"),
)
async def show_whatif(request: ApiRequest) -> JsonResponse:
    """What another document would have made of runs that ended, as `anew whatif` prints it."""
    wanted = await request.json(WhatifRequest)
    document = await request.service.compiler.document(wanted)
    rows = [await request.find_run(run) for run in dict.fromkeys(wanted.runs)]
    async with request.service.reading:
        past = await read_past(request.engine, rows)
        if not past.runs:
            why = "; ".join(f"{one.run}: {one.why}" for one in past.left[:REASONS_SHOWN])
            raise ApiError("conflict", f"none of these runs can be played: {why}")
        study = partial(_played, past, document.program, samples=wanted.samples, seed=wanted.seed)
        remedy = "Name fewer runs, or fewer samples."
        answer = await _in_time(request, study, "playing these runs", remedy)
    return JsonResponse(
        {"report": answer.report(), "lines": list(answer_lines(answer, wanted.name))}
    )


def _played(
    past: Past, program: Program, cancel_check: CancelCheck, *, samples: int, seed: int
) -> Whatif:
    """In a thread. It asks after each play whether to go on."""

    def on_play(_played: int, _planned: int) -> None:
        cancel_check()

    answer = whatif(
        past.runs, program, samples=samples, seed=seed, others=past.others, on_play=on_play
    )
    answer.left.extend(past.left)
    return answer
