"""What there is to read of a run: why it did what it did, its document, and a scenario of it."""

from __future__ import annotations

import asyncio
from functools import partial

from msgspec import Struct
from starlette.responses import Response

from anew.engine.events import Event
from anew.engine.moments import moment_text
from anew.errors import ConfigError
from anew.lab.patience import Patience
from anew.lab.recording import record
from anew.lab.recording.reliance import heading_of, problem_of
from anew.lab.recording.scenario_text import scenario_text
from anew.program.program import Program
from anew.runtime.lines import line_of
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE, Record
from anew.store import RunRow, StoredProgram
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal
from anew.surfaces.api.runs import program_of, record_in
from anew.views.explain.explaining import explanation, shortened, unknown_step
from anew.views.explain.paragraph import Paragraph

YAML = "text/yaml"
EXPLAINED_PARAGRAPHS_MAX = 400
# A scenario is played again and again until it is as short as it can be. With what is read before
# and a place that is waited for, less than a request may take.
SCENARIO_SECONDS_MAX = 7.0


class ExplanationAsked(Struct, forbid_unknown_fields=True):
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


async def explain(asked: Asked) -> Reply:
    """In sentences, in the order things happened."""
    step = asked.query(ExplanationAsked).step
    found = await record_in(asked, await asked.row())
    problem = None if step is None else unknown_step(found.progress, step)
    if problem is not None:
        raise Refusal("not-found", problem)
    tell = partial(_told, found, step, asked.engine.database.clock.now())
    is_short = len(found.log) <= EVENTS_FOLDED_AT_ONCE
    return Reply(tell() if is_short else await asyncio.to_thread(tell))


def _told(found: Record, step: str | None, now: int) -> Explanation:
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


async def show_document(asked: Asked) -> Reply:
    row = await asked.row()
    stored = await _stored(asked, row)
    database = asked.engine.database
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
    return Reply(found)


async def _stored(asked: Asked, row: RunRow) -> StoredProgram:
    stored = await asked.engine.database.catalog.get(row.digest)
    if stored is None:
        raise Refusal("conflict", f"the document of run {row.run} is not in the catalog")
    return stored


async def scenario(asked: Asked) -> Response:
    """What `anew record` prints; Refusal where that would not be true to the run."""
    row = await asked.row()
    stored, program = await _stored(asked, row), await program_of(asked.engine, row)
    if program is None:
        detail = f"the document of run {row.run} cannot be compiled by this version of Anew"
        raise Refusal("conflict", detail)
    async with asked.service.reading:
        runs = await line_of(asked.engine.database.archive, row.run)
        study = partial(_scenario, row, program, stored.dialect, runs)
        try:
            text = await asked.service.studies.made(study, seconds=SCENARIO_SECONDS_MAX)
        except TimeoutError:
            detail = (
                f"a scenario of this run takes longer than {SCENARIO_SECONDS_MAX:g} s to make; "
                f"`anew record {row.run}` has time"
            )
            raise Refusal("conflict", detail) from None
        except ConfigError as refused:
            raise Refusal("conflict", str(refused)) from None
    return Response(text, media_type=f"{YAML}; charset=utf-8")


def _scenario(
    row: RunRow,
    program: Program,
    dialect: str | None,
    runs: list[list[Event]],
    patience: Patience,
) -> str:
    recorded = record(program, runs, patience=patience)
    beside = {} if dialect is None else {"dialect": dialect}
    heading = [heading_of(row, program), *recorded.notes]
    text = scenario_text({**beside, **recorded.scenario}, heading)
    problem = problem_of(recorded, text, "scenario")
    if problem is not None:
        raise ConfigError(problem)
    return text


_TAG = "runs"
ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/v1/runs/{run}/explanation",
        explain,
        "Say why a run did what it did",
        _TAG,
        {200: Explanation},
        query=ExplanationAsked,
        refusals=("not-found",),
    ),
    Endpoint(
        "GET",
        "/api/v1/runs/{run}/document",
        show_document,
        "Show the document that a run is pinned to",
        _TAG,
        {200: RunDocument},
        refusals=("not-found", "conflict"),
    ),
    Endpoint(
        "GET",
        "/api/v1/runs/{run}/scenario",
        scenario,
        "Make a scenario of a run that has ended",
        _TAG,
        {200: None},
        forms=(YAML,),
        refusals=("not-found", "conflict", "unavailable"),
    ),
)
