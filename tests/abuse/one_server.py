"""One server for all cases of a module: in a thread of its own, so that cases are plain requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from msgspec import Struct

from tests.surfaces.api.served import PATIENCE_SECONDS, TOKEN, Site, served

T = TypeVar("T")


class Target(Struct):
    """A server that is attacked, and whoever has its token. `loop` is the server's."""

    site: Site
    client: httpx2.Client
    loop: asyncio.AbstractEventLoop

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Have something done where the server runs."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_SECONDS)

    def is_well(self) -> bool:
        """Whether it still answers, and lists what it has."""
        ready = self.client.get("/readyz").status_code
        listed = self.client.post("/api/catalog/list").status_code
        return (ready, listed) == (200, 200)


@contextmanager
def one_server(folder: Path, **more: Any) -> Iterator[Target]:
    """It stops, and its thread ends, with the block. For `more` see `served`."""
    is_up, is_over = threading.Event(), asyncio.Event()
    found: list[Target] = []

    async def serve() -> None:
        async with served(folder, **more) as site:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            client = httpx2.Client(base_url=site.url, headers=headers, timeout=PATIENCE_SECONDS)
            with client:
                found.append(Target(site, client, asyncio.get_running_loop()))
                is_up.set()
                await is_over.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            is_up.set()  # whoever waits must see that it failed

    thread = threading.Thread(target=run)
    thread.start()
    is_up.wait()
    assert found, "the server did not start"
    try:
        yield found[0]
    finally:
        found[0].loop.call_soon_threadsafe(is_over.set)
        thread.join()
