"""What there is to read of a run: why it did what it did, its document, and a scenario of it."""

from __future__ import annotations

import asyncio
from functools import partial

from msgspec import Struct
from starlette.responses import Response

from anew.engine.events import Event
from anew.engine.moments import moment_text
from anew.errors import ConfigError
from anew.lab.cancellation import CancelCheck
from anew.lab.recording import record
from anew.lab.recording.recording_check import heading_of, problem_of
from anew.lab.recording.scenario_text import scenario_text
from anew.program.program import Program
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE, Record
from anew.runtime.run_logs import read_chain
from anew.store import RunRow, StoredProgram
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.runs import program_of, record_in
from anew.views.explain.explaining import explanation, shortened, unknown_step
from anew.views.explain.paragraph import Paragraph

YAML = "text/yaml"
EXPLAINED_PARAGRAPHS_MAX = 400
# A scenario is played again and again until it is as short as it can be. With what is read before
# and a place that is waited for, less than a request may take.
SCENARIO_SECONDS_MAX = 7.0
ENDPOINTS = Endpoints("runs")


class ExplanationQuery(Struct, forbid_unknown_fields=True):
    """Of this step alone."""

    step: shapes.Name | None = None


class ParagraphRow(Struct):
    """`head` names what the `text` explains; `seq` is the first event it is about."""

    seq: int | None
    at: str | None
    step: str | None
    head: str
    text: str


class Explanation(Struct):
    paragraphs: list[ParagraphRow]


class RunDocument(Struct):
    """What a run is pinned to. `version` is null when it was only run; `newest` is the name's."""

    name: str
    digest: str
    version: int | None
    newest: int | None
    file: str
    dialect: str | None
    document: str
    files: dict[str, str]


@ENDPOINTS.get(
    "/runs/{run}/explanation",
    "Say why a run did what it did",
    Explanation,
    query=ExplanationQuery,
)
async def explain(request: ApiRequest) -> JsonResponse:
    """In sentences, in the order things happened."""
    step = request.query(ExplanationQuery).step
    found = await record_in(request, await request.run())
    problem = None if step is None else unknown_step(found.progress, step)
    if problem is not None:
        raise ApiError("not-found", problem)
    tell = partial(_explained, found, step, request.engine.database.clock.now())
    is_short = len(found.log) <= EVENTS_FOLDED_AT_ONCE
    return JsonResponse(tell() if is_short else await asyncio.to_thread(tell))


def _explained(found: Record, step: str | None, now: int) -> Explanation:
    told = explanation(
        found.log,
        found.progress.program,
        step=step,
        now=now,
        jobs=found.jobs,
        children=found.children,
        lost=found.lost,
    )
    remedy = "`anew explain --json` has them all."
    few = shortened(told, EXPLAINED_PARAGRAPHS_MAX, step=step, remedy=remedy)
    return Explanation([_row(paragraph) for paragraph in few])


def _row(paragraph: Paragraph) -> ParagraphRow:
    relation = f" ({paragraph.relation})" if paragraph.relation else ""
    return ParagraphRow(
        seq=paragraph.seq or next(iter(paragraph.events), None),
        at=moment_text(paragraph.at),
        step=paragraph.step,
        head=f"{paragraph.head}{relation}",
        text=" ".join(paragraph.sentences),
    )


@ENDPOINTS.get(
    "/runs/{run}/document",
    "Show the document that a run is pinned to",
    RunDocument,
    problems=("conflict",),
)
async def show_document(request: ApiRequest) -> JsonResponse:
    row = await request.run()
    stored = await _stored(request, row)
    database = request.engine.database
    newest = await database.catalog.find(row.program)
    versions = await database.statistics.versions({row.digest})
    found = RunDocument(
        name=stored.name,
        digest=stored.digest,
        version=versions.get(row.digest),
        newest=None if newest is None else newest.version,
        file=stored.file,
        dialect=stored.dialect,
        document=stored.source,
        files=dict(stored.files),
    )
    return JsonResponse(found)


async def _stored(request: ApiRequest, row: RunRow) -> StoredProgram:
    stored = await request.engine.database.catalog.get(row.digest)
    if stored is None:
        raise ApiError("conflict", f"the document of run {row.run} is not in the catalog")
    return stored


@ENDPOINTS.get(
    "/runs/{run}/scenario",
    "Make a scenario of a run that has ended",
    forms=(YAML,),
    problems=("conflict", "unavailable"),
)
async def scenario(request: ApiRequest) -> Response:
    """What `anew record` prints; ApiError where that would not be true to the run."""
    row = await request.run()
    stored, program = await _stored(request, row), await program_of(request.engine, row)
    if program is None:
        detail = f"the document of run {row.run} cannot be compiled by this version of Anew"
        raise ApiError("conflict", detail)
    async with request.service.reading:
        runs = await read_chain(request.engine.database.archive, row.run)
        study = partial(_scenario, row, program, stored.dialect, runs)
        try:
            text = await request.service.analyses.run(study, seconds=SCENARIO_SECONDS_MAX)
        except TimeoutError:
            detail = (
                f"a scenario of this run takes longer than {SCENARIO_SECONDS_MAX:g} s to make; "
                f"`anew record {row.run}` has no time limit"
            )
            raise ApiError("conflict", detail) from None
        except ConfigError as refused:
            raise ApiError("conflict", str(refused)) from None
    return Response(text, media_type=f"{YAML}; charset=utf-8")


def _scenario(
    row: RunRow,
    program: Program,
    dialect: str | None,
    runs: list[list[Event]],
    cancel_check: CancelCheck,
) -> str:
    recorded = record(program, runs, cancel_check=cancel_check)
    beside = {} if dialect is None else {"dialect": dialect}
    heading = [heading_of(row, program), *recorded.notes]
    text = scenario_text({**beside, **recorded.scenario}, heading)
    problem = problem_of(recorded, text, "scenario")
    if problem is not None:
        raise ConfigError(problem)
    return text
