"""Who works on the runs of this server, and how much waits in each pool."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from anew.runtime.workforce import workforce_of
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.request import ApiRequest

ENDPOINTS = Endpoints("server")


class WorkerRow(Struct):
    """A process, as it last said. Without `pools` it takes jobs of all of them."""

    worker: str
    host: str
    process: int
    kind: Literal["server", "worker", "command"]
    pools: list[str]
    slots: int
    busy: int
    leases: int
    version: str
    started_at: str
    seen_at: str
    is_alive: bool


class PoolRow(Struct):
    """The processes that take jobs of a pool, and the open jobs in it."""

    pool: str
    workers: int
    slots: int
    busy: int
    ready: int
    oldest_ready_at: str | None
    waiting: int
    next_due_at: str | None
    leased: int
    expired: int


class WorkersShown(Struct):
    now: str
    workers: list[WorkerRow]
    pools: list[PoolRow]


@ENDPOINTS.get("/workers", "List who works, and how much waits in each pool", WorkersShown)
async def list_workers(request: ApiRequest) -> JsonResponse:
    """As `anew workers --json` prints them."""
    request.query(shapes.Empty)
    async with request.service.reading:
        found = await workforce_of(request.engine.database)
    return JsonResponse(found.row())
