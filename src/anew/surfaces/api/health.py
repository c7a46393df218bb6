"""Whether the process lives, whether it can serve, and what it counts."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from anew.store import RunFilter, StoreError
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal
from anew.surfaces.api.settings import READY_SECONDS_MAX


async def live(asked: Asked) -> Reply:
    """The process answers."""
    del asked
    return Reply({"status": "ok"})


async def ready(asked: Asked) -> Reply:
    """The database answers, and the server is not about to stop."""
    if asked.service.stopping.is_set():
        raise Refusal("unavailable", "the server is stopping")
    try:
        async with asyncio.timeout(READY_SECONDS_MAX):
            await asked.engine.database.archive.runs(RunFilter(limit=1))
    except TimeoutError:
        detail = f"the database gave no answer within {READY_SECONDS_MAX:g} seconds"
        raise Refusal("unavailable", detail) from None
    except StoreError as error:
        # Whoever asks may be a stranger: where the database is, is not told.
        raise Refusal("unavailable", "the database cannot be had now") from error
    return Reply({"status": "ready"})


async def metrics(asked: Asked) -> Response:
    content, media_type = asked.service.metrics.text()
    return Response(content, headers={"Content-Type": media_type})


_TAG = "server"
ENDPOINTS = (
    Endpoint(
        "GET", "/healthz", live, "Is the process alive?", _TAG, {200: shapes.Health}, is_open=True
    ),
    Endpoint(
        "GET",
        "/readyz",
        ready,
        "Can it serve?",
        _TAG,
        {200: shapes.Health},
        is_open=True,
        refusals=("unavailable",),
    ),
    Endpoint(
        "GET",
        "/metrics",
        metrics,
        "Figures for Prometheus",
        _TAG,
        {200: None},
        forms=("text/plain",),
    ),
)
