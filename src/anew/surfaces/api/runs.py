"""Start runs, show one, drop one."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType
from starlette.responses import Response

from anew.engine.events import Event
from anew.engine.state import RunStatus
from anew.errors import AnewError, ConfigError
from anew.program.program import Program
from anew.runtime.command_executor import execute
from anew.runtime.commands import DropRun
from anew.runtime.engine import Engine
from anew.runtime.keys import check_key
from anew.runtime.programs import Document, NotRegistered
from anew.runtime.records import Record, record_of, report_of_record
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import Started, StartRequest
from anew.runtime.singletons import check_singleton
from anew.store import RunRow
from anew.surfaces.api.documents import DocumentSource
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.shapes import (
    KEY_CHARACTERS_MAX,
    AwaitedRow,
    DamageShown,
    Dialect,
    Json,
    KeyText,
    Labels,
    Name,
    QuestionRow,
    RunText,
    StartedRun,
    Version,
)
from anew.values import Object
from anew.views.graph import ProgramGraph, dot_lines, graph_of, mermaid_lines
from anew.views.graph_svg import svg_lines
from anew.views.timeline import timeline_lines

IDEMPOTENCY_KEY = "idempotency-key"
GRAPH_FORMS = ("text/vnd.mermaid", "text/vnd.graphviz", "image/svg+xml")
_WRITERS = {
    "mermaid": (mermaid_lines, "text/vnd.mermaid; charset=utf-8"),
    "dot": (dot_lines, "text/vnd.graphviz; charset=utf-8"),
    "svg": (svg_lines, "image/svg+xml"),
}
_EITHER = "send a `document`, or name a registered `program`"

ENDPOINTS = Endpoints("runs")


class RunStartRequest(Struct, forbid_unknown_fields=True):
    """Either a registered `program` or a `document`. The same `key` names the same run.

    While a run of the same `singleton` is not finished, that one is the answer.
    """

    program: Name | None = None
    version: Version | None = None
    document: str | None = None
    file: Name | None = None
    dialect: Dialect | None = None
    files: dict[str, str] = {}
    workload: Json = {}
    key: KeyText | None = None
    labels: Labels = {}
    singleton: KeyText | None = None


class StepShown(Struct):
    status: str
    visits: int
    attempts: int
    result: Any
    verdict: str | UnsetType = UNSET


class LostWorkerRow(Struct):
    """A worker that has not reported for a while, and steps of the run that it has.

    They are handed out again at `handed_out_at` at the soonest. Without a name: nobody knows whose
    lease ran out.
    """

    worker: str | None
    host: str | None
    process: int | None
    seen_at: str | None
    steps: list[str]
    handed_out_at: str


class RunShown(Struct):
    """What `anew run --json` prints; with a `damage`, what can be read before it."""

    run: RunText
    program: str
    status: RunStatus
    error: Json | None
    result: Any
    ctx: Json
    seconds: float
    events: int
    steps: dict[str, StepShown]
    unsatisfied: list[Any] | UnsetType = UNSET
    continued_as: str | UnsetType = UNSET
    continues: str | UnsetType = UNSET
    questions: list[QuestionRow] | UnsetType = UNSET
    signals: list[AwaitedRow] | UnsetType = UNSET
    lost_workers: list[LostWorkerRow] | UnsetType = UNSET
    damage: DamageShown | UnsetType = UNSET


class TimelineShown(Struct):
    run: RunText
    lines: list[str]


class GraphQuery(Struct, forbid_unknown_fields=True):
    format: Literal["mermaid", "dot", "svg"] = "mermaid"


@ENDPOINTS.post(
    "/runs",
    "Start a run, or find the one its key names",
    answers={201: StartedRun, 200: StartedRun},
    body=RunStartRequest,
    headers={IDEMPOTENCY_KEY: "the same as `key`"},
    problems=("not-found", "conflict", "bad-document"),
)
async def start(request: ApiRequest) -> JsonResponse:
    """A new run is 201; the run its key names already is 200."""
    wanted = await request.json(RunStartRequest)
    key = one_key(wanted.key, request.header(IDEMPOTENCY_KEY))
    document = await document_for(request, wanted)
    if document is None:
        raise ApiError("bad-request", _EITHER)
    singleton = check_singleton(wanted.singleton, key)
    order = StartRequest(document, wanted.workload, key, wanted.labels, singleton=singleton)
    started = await request.engine.start(order)
    return started_response(started, await status_of(request, started))


def started_response(started: Started, status: RunStatus) -> JsonResponse:
    answer: Object = {"run": str(started.run), "status": status.value}
    if started.notice is not None:
        answer |= {"differs": list(started.differs), "notice": started.notice}
    where = {"Location": f"/api/v1/runs/{started.run}"}
    return JsonResponse(answer, 201 if started.is_new else 200, where)


async def status_of(request: ApiRequest, started: Started) -> RunStatus:
    """That of a run which has just begun is known here; the others are read."""
    live = request.engine.ledger.live.known(started.run) if started.is_new else None
    if live is not None and not live.state.is_final:
        return live.state.status
    return (await request.find_run(str(started.run))).status


def one_key(given: str | None, header: str | None) -> str | None:
    """The start key, from the body or the header; they must not differ."""
    if given is not None and header is not None and given != header:
        raise ApiError("bad-request", "`key` and the Idempotency-Key header differ. Send one.")
    key = check_key(given if given is not None else header)
    if key is not None and len(key) > KEY_CHARACTERS_MAX:
        limit = KEY_CHARACTERS_MAX
        raise ApiError("bad-request", f"the key has more than {limit} characters")
    return key


async def document_for(request: ApiRequest, wanted: RunStartRequest) -> Document | None:
    """The document that a request brings or names; None where it does neither."""
    if wanted.program is not None and wanted.document is not None:
        raise ApiError("bad-request", _EITHER)
    if wanted.program is not None:
        return await registered(request.engine, wanted.program, wanted.version)
    if wanted.document is None:
        return None
    source = DocumentSource(wanted.document, wanted.file, wanted.dialect, wanted.files)
    return await request.service.compiler.document(source)


async def registered(engine: Engine, name: str, version: int | None = None) -> Document:
    """A program of the catalog; ApiError when it has none of this name and version."""
    try:
        return await engine.programs.find(name, version)
    except NotRegistered as missing:
        raise ApiError("not-found", f"no program {missing.which} is registered") from None


@ENDPOINTS.get("/runs/{run}", "Show one run", RunShown)
async def show(request: ApiRequest) -> JsonResponse:
    record = await record_in(request, await request.run(), with_damage=True)
    return JsonResponse(report_of_record(record, now=request.engine.database.clock.now()))


async def record_in(request: ApiRequest, row: RunRow, *, with_damage: bool = False) -> Record:
    """Everything there is to tell about a run; DamagedRun unless that is told as well."""
    program = await program_of(request.engine, row)
    async with request.service.reading:
        record = await record_of(request.engine.database, row, program)
    if record.damage is None:
        request.engine.damages.forget(row.run)
    elif with_damage:
        request.engine.damages.keep(record.damage)
    else:
        raise record.damage
    return record


@ENDPOINTS.delete(
    "/runs/{run}",
    "Drop a run that has ended or is damaged",
    status=204,
    problems=("conflict",),
)
async def drop(request: ApiRequest) -> Response:
    """Remove a run that has ended, or that is damaged, with all that is its own."""
    row = await request.find_run(request.path("run"))
    try:
        await execute(request.engine, DropRun(run=str(row.run)))
    except ConfigError as refused:
        raise ApiError("conflict", str(refused)) from None
    return Response(status_code=204)


async def whole_log(request: ApiRequest, row: RunRow) -> list[Event]:
    async with request.service.reading:
        return await read_log(request.engine.database.archive, row.run)


async def program_of(engine: Engine, row: RunRow) -> Program | None:
    """The program a run is pinned to, or None: a log can be told without it."""
    try:
        return (await engine.programs.get(row.digest)).program
    except AnewError:
        return None


@ENDPOINTS.get("/runs/{run}/timeline", "Show what happened when", TimelineShown)
async def timeline(request: ApiRequest) -> JsonResponse:
    row = await request.run()
    log = await whole_log(request, row)
    lines = list(timeline_lines(log, await program_of(request.engine, row)))
    return JsonResponse({"run": str(row.run), "lines": lines})


@ENDPOINTS.get(
    "/runs/{run}/graph",
    "Draw a run with the status of its steps",
    query=GraphQuery,
    forms=GRAPH_FORMS,
    problems=("conflict",),
)
async def graph(request: ApiRequest) -> Response:
    wanted = request.query(GraphQuery)
    return draw(await record_in(request, await request.run()), wanted.format)


def draw(record: Record, form: str) -> Response:
    write, media_type = _WRITERS[form]
    return Response("\n".join(write(_graph_in(record))) + "\n", media_type=media_type)


def _graph_in(record: Record) -> ProgramGraph:
    """The run's structure with the status of its steps; ApiError when its program is unknown."""
    program = record.progress.program
    if program is None:
        detail = f"the document of run {record.row.run} cannot be compiled by this version of Anew"
        raise ApiError("conflict", detail)
    statuses = {name: step.shown_status for name, step in record.progress.steps.items()}
    return graph_of(program, statuses)
