"""Start runs, and tell of one."""

from __future__ import annotations

from starlette.responses import Response

from anew.engine.events import Event
from anew.engine.state import RunStatus
from anew.errors import AnewError, ConfigError
from anew.program.program import Program
from anew.runtime.command_executor import execute
from anew.runtime.commands import DropRun
from anew.runtime.engine import Engine
from anew.runtime.keys import check_key
from anew.runtime.ledger import Started, StartRequest
from anew.runtime.programs import Document, NotRegistered
from anew.runtime.records import Record, read_log, record_of, report_of_record
from anew.store import RunRow
from anew.surfaces.api import shapes
from anew.surfaces.api.documents import Source
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal
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


async def start(asked: Asked) -> Reply:
    """A new run is 201; the run its key names already is 200."""
    wanted = await asked.json(shapes.RunWanted)
    key = one_key(wanted.key, asked.header(IDEMPOTENCY_KEY))
    document = await _document(asked, wanted)
    order = StartRequest(document, wanted.workload, key, wanted.labels)
    started = await asked.engine.start(order)
    status = await status_of(asked, started)
    answer = {"run": str(started.run), "status": status.value}
    where = {"Location": f"/api/v1/runs/{started.run}"}
    return Reply(answer, 201 if started.is_new else 200, where)


async def status_of(asked: Asked, started: Started) -> RunStatus:
    """That of a run which has just begun is known here; the others are read."""
    live = asked.engine.ledger.live.known(started.run) if started.is_new else None
    if live is not None and not live.state.is_final:
        return live.state.status
    return (await asked.run_row(str(started.run))).status


def one_key(given: str | None, header: str | None) -> str | None:
    """The start key, from the body or the header; they must not differ."""
    if given is not None and header is not None and given != header:
        raise Refusal("bad-request", "`key` and the Idempotency-Key header differ. Send one.")
    key = check_key(given if given is not None else header)
    if key is not None and len(key) > shapes.KEY_CHARACTERS_MAX:
        limit = shapes.KEY_CHARACTERS_MAX
        raise Refusal("bad-request", f"the key has more than {limit} characters")
    return key


async def _document(asked: Asked, wanted: shapes.RunWanted) -> Document:
    if (wanted.program is None) == (wanted.document is None):
        raise Refusal("bad-request", "send a `document`, or name a registered `program`")
    if wanted.program is not None:
        return await registered(asked.engine, wanted.program, wanted.version)
    assert wanted.document is not None
    source = Source(wanted.document, wanted.file, wanted.dialect, wanted.files)
    compiled = await asked.service.compiler.document(source)
    assert compiled.document is not None
    return compiled.document


async def registered(engine: Engine, name: str, version: int | None = None) -> Document:
    """A program of the catalog; Refusal when it has none of this name and version."""
    try:
        return await engine.programs.find(name, version)
    except NotRegistered as missing:
        raise Refusal("not-found", f"no program {missing.which} is registered") from None


async def show(asked: Asked) -> Reply:
    record = await record_in(asked, await asked.row(), with_damage=True)
    return Reply(report_of_record(record, now=asked.engine.database.clock.now()))


async def record_in(asked: Asked, row: RunRow, *, with_damage: bool = False) -> Record:
    """Everything there is to tell about a run; DamagedRun unless that is told as well."""
    program = await program_of(asked.engine, row)
    async with asked.service.reading:
        record = await record_of(asked.engine.database, row, program)
    if record.damage is None:
        asked.engine.damages.forget(row.run)
    elif with_damage:
        asked.engine.damages.keep(record.damage)
    else:
        raise record.damage
    return record


async def drop(asked: Asked) -> Response:
    """Remove a run that has ended, or that is damaged, with all that is its own."""
    row = await asked.run_row(asked.path("run"))
    try:
        await execute(asked.engine, DropRun(run=str(row.run)))
    except ConfigError as refused:
        raise Refusal("conflict", str(refused)) from None
    return Response(status_code=204)


async def whole_log(asked: Asked, row: RunRow) -> list[Event]:
    async with asked.service.reading:
        return await read_log(asked.engine.database.archive, row.run)


async def program_of(engine: Engine, row: RunRow) -> Program | None:
    """The program a run is pinned to, or None: a log can be told without it."""
    try:
        return (await engine.programs.get(row.digest)).program
    except AnewError:
        return None


async def timeline(asked: Asked) -> Reply:
    row = await asked.row()
    log = await whole_log(asked, row)
    lines = list(timeline_lines(log, await program_of(asked.engine, row)))
    return Reply({"run": str(row.run), "lines": lines})


async def graph(asked: Asked) -> Response:
    wanted = asked.query(shapes.GraphAsked)
    return draw(await record_in(asked, await asked.row()), wanted.format)


def draw(record: Record, form: str) -> Response:
    write, media_type = _WRITERS[form]
    return Response("\n".join(write(_graph_in(record))) + "\n", media_type=media_type)


def _graph_in(record: Record) -> ProgramGraph:
    """The run's structure with the status of its steps; Refusal when its program is unknown."""
    program = record.progress.program
    if program is None:
        detail = f"the document of run {record.row.run} cannot be compiled by this version of Anew"
        raise Refusal("conflict", detail)
    statuses = {name: step.shown_status for name, step in record.progress.steps.items()}
    return graph_of(program, statuses)


_TAG = "runs"
ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/v1/runs",
        start,
        "Start a run, or find the one its key names",
        _TAG,
        {201: shapes.RunStarted, 200: shapes.RunStarted},
        body=shapes.RunWanted,
        headers={IDEMPOTENCY_KEY: "the same as `key`"},
        refusals=("not-found", "conflict", "too-large", "not-json", "bad-document"),
    ),
    Endpoint(
        "GET",
        "/api/v1/runs/{run}",
        show,
        "Show one run",
        _TAG,
        {200: shapes.RunShown},
        refusals=("not-found",),
    ),
    Endpoint(
        "DELETE",
        "/api/v1/runs/{run}",
        drop,
        "Drop a run that has ended or is damaged",
        _TAG,
        {204: None},
        refusals=("not-found", "conflict"),
    ),
    Endpoint(
        "GET",
        "/api/v1/runs/{run}/timeline",
        timeline,
        "Tell what happened when",
        _TAG,
        {200: shapes.TimelineShown},
        refusals=("not-found",),
    ),
    Endpoint(
        "GET",
        "/api/v1/runs/{run}/graph",
        graph,
        "Draw a run with the status of its steps",
        _TAG,
        {200: None},
        query=shapes.GraphAsked,
        forms=GRAPH_FORMS,
        refusals=("not-found", "conflict"),
    ),
)
