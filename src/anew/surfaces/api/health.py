"""Whether the process lives, whether it can serve, and what it counts."""

from __future__ import annotations

import asyncio

from msgspec import Struct
from starlette.responses import Response

from anew.store import RunFilter, StoreError
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.settings import READY_SECONDS_MAX

ENDPOINTS = Endpoints("server", base="")


class Health(Struct):
    status: str


@ENDPOINTS.get("/healthz", "Is the process alive?", Health, is_open=True)
async def live(request: ApiRequest) -> JsonResponse:
    """The process answers."""
    del request
    return JsonResponse({"status": "ok"})


@ENDPOINTS.get("/readyz", "Can it serve?", Health, is_open=True, problems=("unavailable",))
async def ready(request: ApiRequest) -> JsonResponse:
    """The database answers, and the server is not about to stop."""
    if request.service.stopping.is_set():
        raise ApiError("unavailable", "the server is stopping")
    try:
        async with asyncio.timeout(READY_SECONDS_MAX):
            await request.engine.database.archive.runs(RunFilter(limit=1))
    except TimeoutError:
        detail = f"the database gave no answer within {READY_SECONDS_MAX:g} seconds"
        raise ApiError("unavailable", detail) from None
    except StoreError as error:
        # Whoever asks may be a stranger: where the database is stays secret.
        raise ApiError("unavailable", "the database is not available now") from error
    return JsonResponse({"status": "ready"})


@ENDPOINTS.get("/metrics", "Figures for Prometheus", forms=("text/plain",))
async def metrics(request: ApiRequest) -> Response:
    content, media_type = request.service.metrics.text()
    return Response(content, headers={"Content-Type": media_type})
