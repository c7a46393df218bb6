"""The paths and words that clients of NoETL know.

An execution is a run; `noetl_catalog` finds its program by a path. `completed` is said only of a
run that has ended.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from anew.engine.events import to_row
from anew.engine.moments import NANOSECONDS, moment_text
from anew.engine.state import FINAL, RunStatus
from anew.engine.statuses import RUNS, StepStatus
from anew.runtime.commands import CancelRun
from anew.runtime.programs import Document
from anew.runtime.records import Record
from anew.runtime.run_starts import StartRequest
from anew.store import RunFilter, RunRow
from anew.surfaces.aliases.noetl_catalog import Version, find, path_of_run
from anew.surfaces.api import credentials, health
from anew.surfaces.api.actions import change
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.event_pages import EVENTS_PAGE_BYTES_MAX, read_page
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest, run_in_query
from anew.surfaces.api.runs import IDEMPOTENCY_KEY, one_key, record_in
from anew.surfaces.api.shapes import EVENTS_PAGE_MAX, Json, LabelText, Name, RunText, Sequence
from anew.values import Object

STATUSES = {status: words.noetl for status, words in RUNS.items()}
EXECUTIONS_MAX = 100
# The newest of a log this long; `/events` has pages.
EVENTS_SHOWN_MAX = 1_000
_ONE = "/api/executions/{id}"
ENDPOINTS = Endpoints("noetl", base="")


class ExecutionRequest(Struct):
    path: Name | None = None
    playbook_id: Name | None = None
    catalog_id: Name | None = None
    version: Version = None
    payload: dict[str, Any] | None = None
    workload: dict[str, Any] | None = None
    input_payload: dict[str, Any] | None = None


class ExecutionCancelRequest(Struct):
    reason: LabelText | None = None


class ExecutionsQuery(Struct):
    limit: Annotated[int, Meta(ge=1, le=EXECUTIONS_MAX)] = 50
    before: RunText | None = None


class ExecutionEventsQuery(Struct):
    after: Sequence = 0
    limit: Annotated[int, Meta(ge=1, le=EVENTS_PAGE_MAX)] = EVENTS_SHOWN_MAX


class ExecutionStarted(Struct):
    execution_id: RunText
    status: str
    commands_generated: int


@ENDPOINTS.post(
    ("/api/execute", "/api/run/playbook", "/api/executions/run"),
    "Start a run of a registered program",
    ExecutionStarted,
    body=ExecutionRequest,
    headers={IDEMPOTENCY_KEY: "the same key names the same run"},
    problems=("not-found", "conflict"),
)
async def execute(request: ApiRequest) -> JsonResponse:
    wanted = await request.json(ExecutionRequest)
    workload = wanted.payload or wanted.workload or wanted.input_payload or {}
    key = one_key(None, request.header(IDEMPOTENCY_KEY))
    order = StartRequest(await _document(request, wanted), workload, key)
    started = await request.engine.start(order)
    return JsonResponse(ExecutionStarted(str(started.run), "started", 1))


async def _document(request: ApiRequest, wanted: ExecutionRequest) -> Document:
    path, digest = wanted.path or wanted.playbook_id, wanted.catalog_id
    if path is not None and digest is None:
        return await request.engine.programs.of(await find(request, path, wanted.version))
    if path is not None or digest is None:
        raise ApiError("bad-request", "name a `path` or a `catalog_id`, one of both")
    stored = await request.engine.database.catalog.get(digest)
    if stored is None:
        raise ApiError("not-found", f"no program has the catalog id {digest[:80]!r}")
    return await request.engine.programs.of(stored)


@ENDPOINTS.get("/api/executions", "List runs", list[Json], query=ExecutionsQuery)
async def list_executions(request: ApiRequest) -> JsonResponse:
    wanted = request.query(ExecutionsQuery)
    before = run_in_query(wanted.before)
    rows = await request.engine.database.archive.runs(RunFilter(before=before, limit=wanted.limit))
    return JsonResponse([await execution(request, row) for row in rows])


async def execution(request: ApiRequest, row: RunRow) -> Object:
    ended = row.ended_at
    return {
        "execution_id": str(row.run),
        "path": await path_of_run(request, row),
        "status": STATUSES[row.status],
        "start_time": moment_text(row.created_at),
        "end_time": None if ended is None else moment_text(ended),
        "error": row.error,
        "parent_execution_id": None if row.parent is None else str(row.parent.run),
    }


@ENDPOINTS.get(_ONE, "Show a run", Json)
async def show(request: ApiRequest) -> JsonResponse:
    row = await request.run("id")
    record = await record_in(request, row)
    more = {"result": record.progress.result, "events": _newest(record)}
    return JsonResponse(await execution(request, row) | more)


def _newest(record: Record) -> list[msgspec.Raw]:
    """The end of a log, as much of it as a page may have; the last event in any case."""
    shown: list[msgspec.Raw] = []
    left = EVENTS_PAGE_BYTES_MAX
    for event in reversed(record.log[-EVENTS_SHOWN_MAX:]):
        text = msgspec.json.encode(_event(record.row, event))
        left -= len(text)
        if shown and left < 0:
            break
        shown.append(msgspec.Raw(text))
    return shown[::-1]


@ENDPOINTS.get(f"{_ONE}/status", "The status of a run", Json)
async def status(request: ApiRequest) -> JsonResponse:
    record = await record_in(request, await request.run("id"))
    return JsonResponse(_status(record, request.engine.database.clock.now()))


def _status(record: Record, now: int) -> Object:
    row, steps = record.row, record.progress.steps.values()
    ended = [step.name for step in steps if step.status is StepStatus.DONE]
    live = [step.name for step in steps if step.is_live]
    return {
        "execution_id": str(row.run),
        "status": STATUSES[row.status],
        "current_step": live[-1] if live else None,
        "completed_steps": ended,
        "failed": row.status is RunStatus.FAILED,
        "completed": row.status in FINAL,
        "completion_inferred": False,
        "variables": record.state.ctx,
        "error": row.error,
        "start_time": moment_text(row.created_at),
        "duration": ((row.ended_at or now) - row.created_at) / NANOSECONDS,
    }


@ENDPOINTS.get(f"{_ONE}/events", "The log of a run", Json, query=ExecutionEventsQuery)
async def list_events(request: ApiRequest) -> JsonResponse:
    wanted, row = request.query(ExecutionEventsQuery), await request.run("id")
    archive = request.engine.database.archive
    page = await read_page(archive, row.run, after=wanted.after, limit=wanted.limit)
    events = [_event(row, one) for one in page.events]
    return JsonResponse({"execution_id": str(row.run), "events": events, "next": page.next})


def _event(row: RunRow, event: Any) -> Object:
    own = to_row(event)
    return {
        "execution_id": str(row.run),
        "event_id": str(own["seq"]),
        "event_type": own["name"],
        "node_name": own["step"],
        "created_at": own["at"],
        **own,
    }


@ENDPOINTS.post(
    (f"{_ONE}/cancel", f"{_ONE}/finalize"),
    "End a run",
    Json,
    body=ExecutionCancelRequest,
    has_optional_body=True,
    problems=("conflict",),
)
async def cancel(request: ApiRequest) -> JsonResponse:
    wanted = await request.json(ExecutionCancelRequest, ExecutionCancelRequest())
    row = await request.run("id")
    status, is_changed = await change(request, CancelRun(run=str(row.run), reason=wanted.reason))
    answer = {"execution_id": str(row.run), "cancelled": is_changed}
    return JsonResponse({"status": STATUSES[status], **answer})


@ENDPOINTS.get("/api/vars/{id}", "The context of a run", Json)
async def variables(request: ApiRequest) -> JsonResponse:
    record = await record_in(request, await request.run("id"))
    return JsonResponse({"execution_id": str(record.row.run), "variables": record.state.ctx})


# The core's own handlers, at the paths of NoETL.
_ADD: Object = {"status": 201, "body": credentials.CredentialRequest}
_CREDENTIALS = "/api/credentials"
_add = ENDPOINTS.post(_CREDENTIALS, "Seal a credential", credentials.CredentialTaken, **_ADD)
_list = ENDPOINTS.get(_CREDENTIALS, "List names and types", credentials.CredentialList)
_remove = ENDPOINTS.delete(f"{_CREDENTIALS}/{{name:path}}", "Forget a credential", status=204)
_health = ENDPOINTS.get(("/api/health", "/health"), "Is it alive?", health.Health)
_add(credentials.add)
_list(credentials.list_credentials)
_remove(credentials.remove)
_health(health.live)
