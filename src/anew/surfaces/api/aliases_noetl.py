"""The paths and words that clients of NoETL know, for the same runs and programs.

An execution is a run; how its program is found by a path is the catalog's to say.
`completed` is said only of a run that has ended.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from anew.engine.events import to_row
from anew.engine.moments import NANOSECONDS, moment_text
from anew.engine.state import FINAL, RunStatus
from anew.runtime.commands import CancelRun
from anew.runtime.ledger import StartRequest
from anew.runtime.programs import Document
from anew.runtime.records import Record
from anew.store import RunFilter, RunRow
from anew.surfaces.api import credentials, health, shapes
from anew.surfaces.api.actions import changed
from anew.surfaces.api.aliases_noetl_catalog import BODY, TAG, Version, find, path_of_run
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply, run_asked
from anew.surfaces.api.pages import EVENTS_PAGE_BYTES_MAX, read_page
from anew.surfaces.api.problems import Refusal
from anew.surfaces.api.runs import (
    IDEMPOTENCY_KEY,
    one_key,
    record_in,
)
from anew.values import Object
from anew.views.step_progress import StepStatus

STATUSES = {
    RunStatus.NEW: "PENDING",
    RunStatus.QUEUED: "PENDING",
    RunStatus.RUNNING: "RUNNING",
    RunStatus.WAITING: "RUNNING",
    RunStatus.PAUSED: "PAUSED",
    RunStatus.DONE: "COMPLETED",
    RunStatus.FAILED: "FAILED",
    RunStatus.CANCELLED: "CANCELLED",
}
EXECUTIONS_MAX = 100
# The newest of a log this long; `/events` has pages.
EVENTS_SHOWN_MAX = 1_000


class ExecutionWanted(Struct):
    path: shapes.Name | None = None
    playbook_id: shapes.Name | None = None
    catalog_id: shapes.Name | None = None
    version: Version = None
    payload: dict[str, Any] | None = None
    workload: dict[str, Any] | None = None
    input_payload: dict[str, Any] | None = None


class ExecutionCancelling(Struct):
    reason: shapes.LabelText | None = None


class ExecutionsAsked(Struct):
    limit: Annotated[int, Meta(ge=1, le=EXECUTIONS_MAX)] = 50
    before: shapes.RunText | None = None


class ExecutionEventsAsked(Struct):
    after: shapes.Sequence = 0
    limit: Annotated[int, Meta(ge=1, le=shapes.EVENTS_PAGE_MAX)] = EVENTS_SHOWN_MAX


class ExecutionStarted(Struct):
    execution_id: shapes.RunText
    status: str
    commands_generated: int


async def execute(asked: Asked) -> Reply:
    wanted = await asked.json(ExecutionWanted)
    workload = wanted.payload or wanted.workload or wanted.input_payload or {}
    key = one_key(None, asked.header(IDEMPOTENCY_KEY))
    order = StartRequest(await _document(asked, wanted), workload, key)
    started = await asked.engine.start(order)
    said = {"execution_id": str(started.run), "status": "started", "commands_generated": 1}
    return Reply(said)


async def _document(asked: Asked, wanted: ExecutionWanted) -> Document:
    path, digest = wanted.path or wanted.playbook_id, wanted.catalog_id
    if path is not None and digest is None:
        return await asked.engine.programs.of(await find(asked, path, wanted.version))
    if path is not None or digest is None:
        raise Refusal("bad-request", "name a `path` or a `catalog_id`, one of both")
    stored = await asked.engine.database.catalog.get(digest)
    if stored is None:
        raise Refusal("not-found", f"no program has the catalog id {digest[:80]!r}")
    return await asked.engine.programs.of(stored)


async def list_executions(asked: Asked) -> Reply:
    wanted = asked.query(ExecutionsAsked)
    before = run_asked(wanted.before)
    rows = await asked.engine.database.archive.runs(RunFilter(before=before, limit=wanted.limit))
    return Reply([await execution(asked, row) for row in rows])


async def execution(asked: Asked, row: RunRow) -> Object:
    ended = row.ended_at
    return {
        "execution_id": str(row.run),
        "path": await path_of_run(asked, row),
        "status": STATUSES[row.status],
        "start_time": moment_text(row.created_at),
        "end_time": None if ended is None else moment_text(ended),
        "error": row.error,
        "parent_execution_id": None if row.parent is None else str(row.parent.run),
    }


async def show(asked: Asked) -> Reply:
    row = await asked.row("id")
    record = await record_in(asked, row)
    more = {"result": record.progress.result, "events": _newest(record)}
    return Reply(await execution(asked, row) | more)


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


async def status(asked: Asked) -> Reply:
    row = await asked.row("id")
    record = await record_in(asked, row)
    return Reply(_status(record, asked.engine.database.clock.now()))


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


async def list_events(asked: Asked) -> Reply:
    wanted, row = asked.query(ExecutionEventsAsked), await asked.row("id")
    archive = asked.engine.database.archive
    page = await read_page(archive, row.run, after=wanted.after, limit=wanted.limit)
    events = [_event(row, one) for one in page.events]
    return Reply({"execution_id": str(row.run), "events": events, "next": page.next})


def _event(row: RunRow, event: Any) -> Object:
    told = to_row(event)
    return {
        "execution_id": str(row.run),
        "event_id": str(told["seq"]),
        "event_type": told["name"],
        "node_name": told["step"],
        "created_at": told["at"],
        **told,
    }


async def cancel(asked: Asked) -> Reply:
    wanted = await asked.json(ExecutionCancelling, ExecutionCancelling())
    row = await asked.row("id")
    reply = await changed(asked, CancelRun(run=str(row.run), reason=wanted.reason))
    word = STATUSES[RunStatus(reply.content["status"])]
    said = {"status": word, "execution_id": str(row.run), "cancelled": reply.content["changed"]}
    return Reply(said)


async def variables(asked: Asked) -> Reply:
    record = await record_in(asked, await asked.row("id"))
    return Reply({"execution_id": str(record.row.run), "variables": record.state.ctx})


_EXECUTE = ("/api/execute", "/api/run/playbook", "/api/executions/run")
_ONE = "/api/executions/{id}"
ENDPOINTS = (
    *(
        Endpoint(
            "POST",
            path,
            execute,
            "Start a run of a registered program",
            TAG,
            {200: ExecutionStarted},
            body=ExecutionWanted,
            headers={IDEMPOTENCY_KEY: "the same key names the same run"},
            refusals=("not-found", "conflict", *BODY),
        )
        for path in _EXECUTE
    ),
    Endpoint(
        "GET",
        "/api/executions",
        list_executions,
        "List runs",
        TAG,
        {200: list[shapes.Json]},
        query=ExecutionsAsked,
    ),
    Endpoint("GET", _ONE, show, "Show a run", TAG, {200: shapes.Json}, refusals=("not-found",)),
    Endpoint(
        "GET",
        f"{_ONE}/status",
        status,
        "How a run stands",
        TAG,
        {200: shapes.Json},
        refusals=("not-found",),
    ),
    Endpoint(
        "GET",
        f"{_ONE}/events",
        list_events,
        "The log of a run",
        TAG,
        {200: shapes.Json},
        query=ExecutionEventsAsked,
        refusals=("not-found",),
    ),
    *(
        Endpoint(
            "POST",
            f"{_ONE}/{word}",
            cancel,
            "End a run",
            TAG,
            {200: shapes.Json},
            body=ExecutionCancelling,
            has_optional_body=True,
            refusals=("not-found", "conflict", *BODY),
        )
        for word in ("cancel", "finalize")
    ),
    Endpoint(
        "GET",
        "/api/vars/{id}",
        variables,
        "The context of a run",
        TAG,
        {200: shapes.Json},
        refusals=("not-found",),
    ),
    Endpoint(
        "POST",
        "/api/credentials",
        credentials.add,
        "Seal a credential",
        TAG,
        {201: shapes.CredentialTaken},
        body=shapes.CredentialSent,
        refusals=BODY,
    ),
    Endpoint(
        "GET",
        "/api/credentials",
        credentials.list_credentials,
        "List names and types",
        TAG,
        {200: shapes.CredentialList},
    ),
    Endpoint(
        "DELETE",
        "/api/credentials/{name:path}",
        credentials.remove,
        "Forget a credential",
        TAG,
        {204: None},
        refusals=("not-found",),
    ),
    *(
        Endpoint("GET", path, health.live, "Is it alive?", TAG, {200: shapes.Health})
        for path in ("/api/health", "/health")
    ),
)
