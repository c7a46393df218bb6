"""Make a new run out of the beginning of another: fork it at an event, or retry it from a step.

With `dry_run` nothing is begun, and the answer tells what would be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from anew.lab.forking import fork_preview
from anew.runtime.forks import ForkPlan, ForkPoint, ForkRequest, Unfit
from anew.runtime.ledger import Started
from anew.runtime.programs import Document
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE
from anew.surfaces.api import shapes
from anew.surfaces.api.documents import Source
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal
from anew.surfaces.api.runs import IDEMPOTENCY_KEY, one_key, registered
from anew.values import Object
from anew.views.forking import misfit_row, preview_row


async def retry(asked: Asked) -> Reply:
    """A new run that goes on where a step of this one began."""
    wanted = await asked.json(shapes.RetryWanted, shapes.RetryWanted())
    key = one_key(wanted.key, asked.header(IDEMPOTENCY_KEY))
    row = await asked.row()
    if wanted.dry_run:
        where = ForkPoint(step=wanted.step, is_failure=True)
        return await _previewed(await asked.engine.forks.plan(row.run, where), {})
    return await _begun(asked, asked.engine.retry(row.run, wanted.step, key=key))


async def fork(asked: Asked) -> Reply:
    """A new run that shares the log of this one up to an event."""
    wanted = await asked.json(shapes.ForkWanted, shapes.ForkWanted())
    key = one_key(wanted.key, asked.header(IDEMPOTENCY_KEY))
    row = await asked.row()
    _check_words(wanted)
    document = await _document(asked, wanted)
    where = ForkPoint(wanted.at, wanted.step, wanted.visit)
    if wanted.dry_run:
        plan = await asked.engine.forks.plan(row.run, where, document)
        return await _previewed(plan, wanted.workload)
    order = ForkRequest(
        row.run,
        where,
        document,
        wanted.workload,
        key,
        wanted.labels,
        cancels=wanted.cancel,
    )
    return await _begun(asked, asked.engine.fork(order))


def _check_words(wanted: shapes.ForkWanted) -> None:
    """Refusal for words that contradict each other, or that need one that is missing."""
    if wanted.at is not None and wanted.step is not None:
        raise Refusal("bad-request", "send `at`, or the `step` to begin with")
    if wanted.visit is not None and wanted.step is None:
        raise Refusal("bad-request", "`visit` says which visit of a `step`: send that too")
    if wanted.program is not None and wanted.document is not None:
        raise Refusal("bad-request", "send a `document`, or name a registered `program`")
    if wanted.version is not None and wanted.program is None:
        raise Refusal("bad-request", "`version` says which one of a `program`: send that too")


async def _document(asked: Asked, wanted: shapes.ForkWanted) -> Document | None:
    """The document to go on under; None for the run's own."""
    if wanted.program is not None:
        return await registered(asked.engine, wanted.program, wanted.version)
    if wanted.document is None:
        return None
    source = Source(wanted.document, wanted.file, wanted.dialect, wanted.files)
    return (await asked.service.compiler.document(source)).document


async def _previewed(plan: ForkPlan, workload: Object) -> Reply:
    """Derived beside the event loop where the log is long: others wait for that."""
    if len(plan.log) <= EVENTS_FOLDED_AT_ONCE:
        preview = fork_preview(plan, workload)
    else:
        preview = await asyncio.to_thread(fork_preview, plan, workload)
    return Reply({"preview": preview_row(preview)})


async def _begun(asked: Asked, beginning: Awaitable[Started]) -> Reply:
    try:
        started = await beginning
    except Unfit as unfit:
        rows = [misfit_row(found) for found in unfit.misfits]
        raise Refusal("conflict", str(unfit), misfits=rows) from unfit
    new = await asked.run_row(str(started.run))
    where = {"Location": f"/api/v1/runs/{new.run}"}
    answer = {"run": str(new.run), "status": new.status.value}
    return Reply(answer, 201 if started.is_new else 200, where)


_TAG = "actions"
_REFUSALS = ("not-found", "conflict", "too-large", "not-json")
_KEY = {IDEMPOTENCY_KEY: "the same as `key`"}
ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/v1/runs/{run}/retry",
        retry,
        "Run again from a step, by default the one that failed",
        _TAG,
        {201: shapes.RunStarted, 200: shapes.RunForked},
        body=shapes.RetryWanted,
        has_optional_body=True,
        headers=_KEY,
        refusals=_REFUSALS,
    ),
    Endpoint(
        "POST",
        "/api/v1/runs/{run}/fork",
        fork,
        "Begin a run that shares the log up to an event",
        _TAG,
        {201: shapes.RunStarted, 200: shapes.RunForked},
        body=shapes.ForkWanted,
        has_optional_body=True,
        headers=_KEY,
        refusals=(*_REFUSALS, "bad-document"),
    ),
)
