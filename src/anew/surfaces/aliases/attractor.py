"""The paths and words that clients of DOT engines know.

A pipeline is a program or, under a number, a run of one. Events are in the words of graphs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from anew.engine.moments import moment_text
from anew.engine.state import FINAL, RunStatus
from anew.engine.statuses import RUNS, StepStatus
from anew.runtime.commands import CancelRun
from anew.runtime.json_rows import program_row, question_row
from anew.runtime.questions import OpenQuestion, open_questions
from anew.runtime.records import Record, report_of_record
from anew.runtime.run_starts import StartRequest
from anew.store import RunFilter, RunId, RunRow
from anew.surfaces.api.actions import AnswerRequest, change, status_now, take_answer
from anew.surfaces.api.documents import DocumentSource
from anew.surfaces.api.endpoint import Decorator, Endpoints, JsonResponse, Paths
from anew.surfaces.api.events import stream_in
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.programs import program_shown, stored
from anew.surfaces.api.request import (
    JSON,
    ApiRequest,
    decoded,
    is_json,
    run_id,
    run_in_query,
    text_of,
)
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
from anew.surfaces.api.shapes import Json, KeyText, LabelText, Name, RunText
from anew.surfaces.api.streams import STREAM
from anew.values import Object
from anew.views.nodes import NodeWords, nodes

STATUSES = {status: words.graphs for status, words in RUNS.items()}
PIPELINE_RUNS_MAX = 100
_HTML = "text/html"
ENDPOINTS = Endpoints("attractor", base="")
_STARTED = {201: Json, 200: Json}


def _get(paths: Paths, summary: str, **row: Any) -> Decorator:
    return ENDPOINTS.get(paths, summary, Json, problems=("not-found", "not-acceptable"), **row)


def _post(paths: Paths, summary: str, **row: Any) -> Decorator:
    problems = ("not-found", "conflict", "unfit-answer")
    return ENDPOINTS.post(paths, summary, Json, problems=problems, **row)


def _of_run(ending: str) -> tuple[str, ...]:
    """Under each of the prefixes that clients know."""
    return tuple(f"/{word}/{{id}}{ending}" for word in ("pipelines", "pipeline", "runs"))


class PipelineRequest(Struct):
    """A graph under one of the names clients use, and values for its variables."""

    document: str | None = None
    dot: str | None = None
    source: str | None = None
    context: dict[str, Any] | None = None
    variables: dict[str, Any] | None = None
    workload: dict[str, Any] | None = None
    key: KeyText | None = None

    @property
    def values(self) -> Object:
        return self.variables or self.context or self.workload or {}


class PipelineAnswerRequest(Struct):
    """An answer under one of the names clients use, and whose question it is for."""

    answer: str | None = None
    response: str | None = None
    choice: str | None = None
    label: str | None = None
    value: str | None = None
    node_id: Name | None = None
    step: Name | None = None
    by: LabelText | None = None

    @property
    def text(self) -> str | None:
        every = (self.answer, self.response, self.choice, self.label, self.value)
        return next((text for text in every if text is not None), None)


class PipelineCancelRequest(Struct):
    reason: LabelText | None = None


class PipelineGraphQuery(Struct):
    format: Literal["svg", "dot", "mermaid"] = "svg"


class PipelineRunsQuery(Struct):
    limit: Annotated[int, Meta(ge=1, le=PIPELINE_RUNS_MAX)] = 50
    before: RunText | None = None


def for_programs(request: ApiRequest) -> None:
    """ApiError when a page for people is asked for: these paths have JSON."""
    if request.accepts(_HTML) and not request.accepts(JSON):
        raise ApiError("not-acceptable", "the page is at /; here, ask for application/json")


@_get("/pipelines", "List programs")
async def list_pipelines(request: ApiRequest) -> JsonResponse:
    for_programs(request)
    programs = await request.engine.database.catalog.programs()
    return JsonResponse({"pipelines": [program_row(program) for program in programs]})


@_post("/pipelines", "Start a run of a graph", answers=_STARTED, body=PipelineRequest)
async def submit(request: ApiRequest) -> JsonResponse:
    """Start a run of the graph in the body, which is JSON or the graph itself."""
    data = await request.data()
    wanted = _starting(request, data)
    text = wanted.dot or wanted.source or wanted.document
    if not text:
        raise ApiError("bad-request", "send the graph: as `dot`, `source` or `document`")
    document = await request.service.compiler.document(DocumentSource(text))
    key = one_key(wanted.key, request.header(IDEMPOTENCY_KEY))
    return await _started(request, StartRequest(document, wanted.values, key))


def _starting(request: ApiRequest, data: bytes) -> PipelineRequest:
    if is_json(request.header("content-type")):
        return decoded(data, PipelineRequest)
    return PipelineRequest(dot=text_of(data, "a graph"))


@_post(
    "/pipelines/{id}/run",
    "Start a run of a registered graph",
    answers=_STARTED,
    body=PipelineRequest,
    has_optional_body=True,
)
async def run_pipeline(request: ApiRequest) -> JsonResponse:
    wanted = await request.json(PipelineRequest, PipelineRequest())
    document = await registered(request.engine, request.path("id"))
    key = one_key(wanted.key, request.header(IDEMPOTENCY_KEY))
    return await _started(request, StartRequest(document, wanted.values, key))


async def _started(request: ApiRequest, order: StartRequest) -> JsonResponse:
    started = await request.engine.start(order)
    status = await status_of(request, started)
    return JsonResponse(_status_row(started.run, status), 201 if started.is_new else 200)


def _named(row: RunRow) -> Object:
    return _status_row(row.run, row.status)


def _status_row(run: RunId, status: RunStatus) -> Object:
    return {"id": str(run), "run_id": str(run), "status": STATUSES[status]}


@_get("/pipelines/{id}", "Show a run or a program")
async def show_pipeline(request: ApiRequest) -> Response:
    """A run under its number, a program under its name."""
    for_programs(request)
    said = request.path("id")
    if run_id(said) is None:
        return JsonResponse(program_shown(await stored(request, said)))
    return await show(request)


@_get("/runs", "List runs", query=PipelineRunsQuery)
async def list_runs(request: ApiRequest) -> JsonResponse:
    for_programs(request)
    wanted = request.query(PipelineRunsQuery)
    before = run_in_query(wanted.before)
    rows = await request.engine.database.archive.runs(RunFilter(before=before, limit=wanted.limit))
    return JsonResponse({"runs": [_row(row) for row in rows]})


def _row(row: RunRow) -> Object:
    ended = row.ended_at
    return _named(row) | {
        "pipeline": row.program,
        "started_at": moment_text(row.created_at),
        "ended_at": None if ended is None else moment_text(ended),
        "error": row.error,
    }


@_get("/runs/{id}", "Show a run")
async def show(request: ApiRequest) -> JsonResponse:
    for_programs(request)
    record, report = await _report(request)
    return JsonResponse(report | _row(record.row) | _nodes(record))


async def _report(request: ApiRequest) -> tuple[Record, Object]:
    record = await record_in(request, await request.run("id"))
    return record, report_of_record(record, now=request.engine.database.clock.now())


def _nodes(record: Record) -> Object:
    steps = record.progress.steps.values()
    live = [step.name for step in steps if step.is_live]
    return {
        "current_node": live[-1] if live else None,
        "completed_nodes": [step.name for step in steps if step.status is StepStatus.DONE],
    }


@ENDPOINTS.get(
    _of_run("/events"),
    "Follow a run in the words of graphs",
    answers={200: None, 204: None},
    forms=(STREAM, JSON),
)
async def events(request: ApiRequest) -> Response:
    """A stream, as these clients expect; a list where the Accept header asks for JSON no less."""
    row = await request.run("id")
    if not request.accepts(JSON) or request.quality_of(STREAM) > request.quality_of(JSON):
        return await stream_in(request, row, NodeWords().rows, reads_all=True)
    return JsonResponse({"events": nodes(await whole_log(request, row))})


@_get(_of_run("/context"), "The context of a run")
async def context(request: ApiRequest) -> JsonResponse:
    for_programs(request)
    _, report = await _report(request)
    return JsonResponse(report["ctx"])


@_get(_of_run("/checkpoint"), "Show the state of a run")
async def checkpoint(request: ApiRequest) -> JsonResponse:
    for_programs(request)
    record, report = await _report(request)
    retries = {name: step.attempts - step.visits for name, step in record.progress.steps.items()}
    more = {"context": report["ctx"], "node_retries": {k: v for k, v in retries.items() if v > 0}}
    return JsonResponse(_named(record.row) | _nodes(record) | more)


@ENDPOINTS.get(
    _of_run("/graph"),
    "Draw a run",
    query=PipelineGraphQuery,
    forms=GRAPH_FORMS,
    problems=("conflict",),
)
async def graph(request: ApiRequest) -> Response:
    wanted = request.query(PipelineGraphQuery)
    return draw(await record_in(request, await request.run("id")), wanted.format)


@_get((*_of_run("/pending"), *_of_run("/questions")), "What people are asked")
async def pending(request: ApiRequest) -> JsonResponse:
    for_programs(request)
    rows = [_question(question) for question in await _open(request, await request.run("id"))]
    return JsonResponse({"pending": rows, "questions": rows})


async def _open(request: ApiRequest, row: RunRow) -> list[OpenQuestion]:
    return [] if row.status in FINAL else await open_questions(request.engine.database, row.run)


def _question(question: OpenQuestion) -> Object:
    more = {"id": _question_id(question), "node_id": question.key.step}
    return question_row(question) | more


def _question_id(question: OpenQuestion) -> str:
    return f"{question.run}-{question.asked}"


@_post(_of_run("/respond"), "Answer a question", body=PipelineAnswerRequest)
async def respond(request: ApiRequest) -> JsonResponse:
    given = await request.json(PipelineAnswerRequest)
    row = await request.run("id")
    answer = _given(given, given.node_id or given.step)
    await take_answer(request, row, answer, asking=row.run)
    return await _now(request, row)


@_post(_of_run("/questions/{question}/answer"), "Answer it", body=PipelineAnswerRequest)
async def answer_question(request: ApiRequest) -> JsonResponse:
    given = await request.json(PipelineAnswerRequest)
    row = await request.run("id")
    wanted = request.path("question")
    for question in await _open(request, row):
        if _question_id(question) == wanted:
            answer = _given(given, question.key.step, question.asked)
            await take_answer(request, row, answer, asking=question.run)
            return await _now(request, row)
    raise ApiError("not-found", f"run {row.run} has no open question {wanted[:80]!r}")


def _given(
    given: PipelineAnswerRequest, step: str | None, seen: int | None = None
) -> AnswerRequest:
    if given.text is None:
        raise ApiError("bad-request", "there is no `answer` in the body")
    return AnswerRequest(given.text, step, given.by, seen)


@_post(_of_run("/cancel"), "End a run", body=PipelineCancelRequest, has_optional_body=True)
async def cancel(request: ApiRequest) -> JsonResponse:
    wanted = await request.json(PipelineCancelRequest, PipelineCancelRequest())
    row = await request.run("id")
    status, _ = await change(request, CancelRun(run=str(row.run), reason=wanted.reason))
    return JsonResponse(_status_row(row.run, status))


async def _now(request: ApiRequest, row: RunRow) -> JsonResponse:
    return JsonResponse(_status_row(row.run, await status_now(request, row)))
