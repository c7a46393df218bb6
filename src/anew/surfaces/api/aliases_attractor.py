"""The paths and words that clients of DOT engines know, for the same runs and programs.

A pipeline is a program or, under a number, a run of one. Events are told in the words of graphs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from anew.engine.moments import moment_text
from anew.engine.state import FINAL, RunStatus
from anew.runtime.commands import CancelRun
from anew.runtime.json_rows import program_row, question_row
from anew.runtime.ledger import StartRequest
from anew.runtime.questions import OpenQuestion, open_questions
from anew.runtime.records import Record, report_of_record
from anew.store import RunFilter, RunId, RunRow
from anew.surfaces.api import shapes
from anew.surfaces.api.actions import changed, take_answer
from anew.surfaces.api.documents import Source
from anew.surfaces.api.endpoint import JSON, Act, Asked, Endpoint, Reply, decoded, run_asked, run_id
from anew.surfaces.api.events import stream_in
from anew.surfaces.api.problems import Refusal
from anew.surfaces.api.programs import program_shown, stored
from anew.surfaces.api.runs import (
    GRAPH_FORMS,
    IDEMPOTENCY_KEY,
    draw,
    one_key,
    record_in,
    registered,
    status_of,
    whole_log,
)
from anew.surfaces.api.streams import STREAM
from anew.values import Object
from anew.views.nodes import NodeWords, nodes
from anew.views.step_progress import StepStatus

STATUSES = {
    RunStatus.NEW: "pending",
    RunStatus.QUEUED: "pending",
    RunStatus.RUNNING: "running",
    RunStatus.WAITING: "waiting",
    RunStatus.PAUSED: "paused",
    RunStatus.DONE: "completed",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "cancelled",
}
PIPELINE_RUNS_MAX = 100
_HTML = "text/html"


class PipelineWanted(Struct):
    """A graph under one of the names clients use, and values for its variables."""

    document: str | None = None
    dot: str | None = None
    source: str | None = None
    context: dict[str, Any] | None = None
    variables: dict[str, Any] | None = None
    workload: dict[str, Any] | None = None
    key: shapes.KeyText | None = None

    @property
    def values(self) -> Object:
        return self.variables or self.context or self.workload or {}


class PipelineAnswer(Struct):
    """An answer under one of the names clients use, and whose question it is for."""

    answer: str | None = None
    response: str | None = None
    choice: str | None = None
    label: str | None = None
    value: str | None = None
    node_id: shapes.Name | None = None
    step: shapes.Name | None = None
    by: shapes.LabelText | None = None

    @property
    def said(self) -> str | None:
        every = (self.answer, self.response, self.choice, self.label, self.value)
        return next((said for said in every if said is not None), None)


class PipelineCancelling(Struct):
    reason: shapes.LabelText | None = None


class PipelineGraphAsked(Struct):
    format: Literal["svg", "dot", "mermaid"] = "svg"


class PipelineRunsAsked(Struct):
    limit: Annotated[int, Meta(ge=1, le=PIPELINE_RUNS_MAX)] = 50
    before: shapes.RunText | None = None


def for_programs(asked: Asked) -> None:
    """Refusal when a page for people is asked for: these paths have JSON."""
    if asked.accepts(_HTML) and not asked.accepts(JSON):
        raise Refusal("not-acceptable", "the page is at /; here, ask for application/json")


async def list_pipelines(asked: Asked) -> Reply:
    for_programs(asked)
    programs = await asked.engine.database.catalog.programs()
    return Reply({"pipelines": [program_row(program) for program in programs]})


async def submit(asked: Asked) -> Reply:
    """Start a run of the graph in the body, which is JSON or the graph itself."""
    data = await asked.data()
    wanted = _starting(asked, data)
    text = wanted.dot or wanted.source or wanted.document
    if not text:
        raise Refusal("bad-request", "send the graph: as `dot`, `source` or `document`")
    compiled = await asked.service.compiler.document(Source(text))
    assert compiled.document is not None
    key = one_key(wanted.key, asked.header(IDEMPOTENCY_KEY))
    return await _started(asked, StartRequest(compiled.document, wanted.values, key))


def _starting(asked: Asked, data: bytes) -> PipelineWanted:
    said = (asked.header("content-type") or JSON).partition(";")[0].strip().lower()
    if said == JSON or said.endswith("+json"):
        return decoded(data, PipelineWanted)
    try:
        return PipelineWanted(dot=data.decode())
    except UnicodeError:
        raise Refusal("not-json", "the body is neither JSON nor a graph in UTF-8") from None


async def run_pipeline(asked: Asked) -> Reply:
    wanted = await asked.json(PipelineWanted, PipelineWanted())
    document = await registered(asked.engine, asked.path("id"))
    key = one_key(wanted.key, asked.header(IDEMPOTENCY_KEY))
    return await _started(asked, StartRequest(document, wanted.values, key))


async def _started(asked: Asked, order: StartRequest) -> Reply:
    started = await asked.engine.start(order)
    status = await status_of(asked, started)
    return Reply(_told(started.run, status), 201 if started.is_new else 200)


def _named(row: RunRow) -> Object:
    return _told(row.run, row.status)


def _told(run: RunId, status: RunStatus) -> Object:
    return {"id": str(run), "run_id": str(run), "status": STATUSES[status]}


async def show_pipeline(asked: Asked) -> Reply:
    """A run under its number, a program under its name."""
    for_programs(asked)
    said = asked.path("id")
    if run_id(said) is None:
        return Reply(program_shown(await stored(asked, said)))
    return await show(asked)


async def list_runs(asked: Asked) -> Reply:
    for_programs(asked)
    wanted = asked.query(PipelineRunsAsked)
    before = run_asked(wanted.before)
    rows = await asked.engine.database.archive.runs(RunFilter(before=before, limit=wanted.limit))
    return Reply({"runs": [_row(row) for row in rows]})


def _row(row: RunRow) -> Object:
    ended = row.ended_at
    return _named(row) | {
        "pipeline": row.program,
        "started_at": moment_text(row.created_at),
        "ended_at": None if ended is None else moment_text(ended),
        "error": row.error,
    }


async def show(asked: Asked) -> Reply:
    for_programs(asked)
    record = await record_in(asked, await asked.row("id"))
    report = report_of_record(record, now=asked.engine.database.clock.now())
    return Reply(report | _row(record.row) | _nodes(record))


def _nodes(record: Record) -> Object:
    steps = record.progress.steps.values()
    live = [step.name for step in steps if step.is_live]
    return {
        "current_node": live[-1] if live else None,
        "completed_nodes": [step.name for step in steps if step.status is StepStatus.DONE],
    }


async def events(asked: Asked) -> Reply | Response:
    """A stream, as these clients expect; a list where the Accept header asks for JSON no less."""
    row = await asked.row("id")
    if not asked.accepts(JSON) or asked.wish_for(STREAM) > asked.wish_for(JSON):
        return await stream_in(asked, row, NodeWords().rows, reads_all=True)
    return Reply({"events": nodes(await whole_log(asked, row))})


async def context(asked: Asked) -> Reply:
    for_programs(asked)
    return Reply((await _report(asked))["ctx"])


async def _report(asked: Asked) -> Object:
    record = await record_in(asked, await asked.row("id"))
    return report_of_record(record, now=asked.engine.database.clock.now())


async def checkpoint(asked: Asked) -> Reply:
    for_programs(asked)
    record = await record_in(asked, await asked.row("id"))
    report = report_of_record(record, now=asked.engine.database.clock.now())
    retries = {name: step.attempts - step.visits for name, step in record.progress.steps.items()}
    more = {"context": report["ctx"], "node_retries": {k: v for k, v in retries.items() if v > 0}}
    return Reply(_named(record.row) | _nodes(record) | more)


async def graph(asked: Asked) -> Response:
    wanted = asked.query(PipelineGraphAsked)
    return draw(await record_in(asked, await asked.row("id")), wanted.format)


async def pending(asked: Asked) -> Reply:
    for_programs(asked)
    rows = [_question(question) for question in await _open(asked, await asked.row("id"))]
    return Reply({"pending": rows, "questions": rows})


async def _open(asked: Asked, row: RunRow) -> list[OpenQuestion]:
    return [] if row.status in FINAL else await open_questions(asked.engine.database, row.run)


def _question(question: OpenQuestion) -> Object:
    more = {"id": _question_id(question), "node_id": question.key.step}
    return question_row(question) | more


def _question_id(question: OpenQuestion) -> str:
    return f"{question.run}-{question.asked}"


async def respond(asked: Asked) -> Reply:
    given = await asked.json(PipelineAnswer)
    row = await asked.row("id")
    said = _given(given, given.node_id or given.step)
    reply = await take_answer(asked, row, said, asking=row.run)
    return Reply(_named(row) | {"status": STATUSES[RunStatus(reply.content["status"])]})


async def answer_question(asked: Asked) -> Reply:
    given = await asked.json(PipelineAnswer)
    row = await asked.row("id")
    wanted = asked.path("question")
    for question in await _open(asked, row):
        if _question_id(question) == wanted:
            seen = _given(given, question.key.step, question.asked)
            reply = await take_answer(asked, row, seen, asking=question.run)
            return Reply(_named(row) | {"status": STATUSES[RunStatus(reply.content["status"])]})
    raise Refusal("not-found", f"run {row.run} has no open question {wanted[:80]!r}")


def _given(given: PipelineAnswer, step: str | None, seen: int | None = None) -> shapes.AnswerGiven:
    if given.said is None:
        raise Refusal("bad-request", "there is no `answer` in the body")
    return shapes.AnswerGiven(given.said, step, given.by, seen)


async def cancel(asked: Asked) -> Reply:
    wanted = await asked.json(PipelineCancelling, PipelineCancelling())
    row = await asked.row("id")
    reply = await changed(asked, CancelRun(run=str(row.run), reason=wanted.reason))
    return Reply(_named(row) | {"status": STATUSES[RunStatus(reply.content["status"])]})


_TAG = "attractor"
_BODY = ("too-large", "not-json")


def _get(path: str, act: Act, summary: str, query: type[Struct] | None = None) -> Endpoint:
    answers = {200: shapes.Json}
    return Endpoint(
        "GET",
        path,
        act,
        summary,
        _TAG,
        answers,
        query=query,
        refusals=("not-found", "not-acceptable"),
    )


def _post(path: str, act: Act, summary: str, body: type[Struct], **more: Any) -> Endpoint:
    refusals = ("not-found", "conflict", "unfit-answer", *_BODY)
    answers = more.pop("answers", {200: shapes.Json})
    return Endpoint("POST", path, act, summary, _TAG, answers, body=body, refusals=refusals, **more)


def _of_runs(prefix: str) -> tuple[Endpoint, ...]:
    """What can be asked of one run, under each of the prefixes that clients know."""
    return (
        Endpoint(
            "GET",
            f"{prefix}/events",
            events,
            "Follow a run in the words of graphs",
            _TAG,
            {200: None, 204: None},
            forms=(STREAM, JSON),
            refusals=("not-found",),
        ),
        _get(f"{prefix}/context", context, "The context of a run"),
        _get(f"{prefix}/pending", pending, "What people are asked"),
        _get(f"{prefix}/questions", pending, "What people are asked"),
        _get(f"{prefix}/checkpoint", checkpoint, "Where a run stands"),
        Endpoint(
            "GET",
            f"{prefix}/graph",
            graph,
            "Draw a run",
            _TAG,
            {200: None},
            query=PipelineGraphAsked,
            forms=GRAPH_FORMS,
            refusals=("not-found", "conflict"),
        ),
        _post(f"{prefix}/respond", respond, "Answer a question", PipelineAnswer),
        _post(
            f"{prefix}/questions/{{question}}/answer", answer_question, "Answer it", PipelineAnswer
        ),
        _post(f"{prefix}/cancel", cancel, "End a run", PipelineCancelling, has_optional_body=True),
    )


_STARTED: dict[int, Any] = {201: shapes.Json, 200: shapes.Json}
ENDPOINTS = (
    _get("/pipelines", list_pipelines, "List programs"),
    _post("/pipelines", submit, "Start a run of a graph", PipelineWanted, answers=_STARTED),
    _post(
        "/pipelines/{id}/run",
        run_pipeline,
        "Start a run of a registered graph",
        PipelineWanted,
        answers=_STARTED,
        has_optional_body=True,
    ),
    _get("/pipelines/{id}", show_pipeline, "Show a run or a program"),
    *_of_runs("/pipelines/{id}"),
    *_of_runs("/pipeline/{id}"),
    _get("/runs", list_runs, "List runs", PipelineRunsAsked),
    _get("/runs/{id}", show, "Show a run"),
    *_of_runs("/runs/{id}"),
)
