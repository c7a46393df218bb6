"""Hears of what others change at a server, for as long as somebody here listens.

The server is told what all the listeners together have a use for, and is silent about the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable

from anew.errors import AnewError
from anew.store import NoticeListener, RunId
from anew.stores.notices import LocalNotices, NoticeFilter, notice_filter
from anew.stores.remote.connection import SERVER_PAUSE_SECONDS_MAX, ServerConnection
from anew.stores.remote.wire import WAIT_SECONDS_MAX, NoticePage, NoticesRequest

# Who wants to hear of more runs than this hears of all.
RUNS_NAMED_MAX = 1_000
# Between an answer and the next question: where much happens, many are told at once.
GATHER_SECONDS = 0.02


class RemoteNotices(LocalNotices):
    """Those of this process at once, and those of the server as they come.

    What happens after the newest answer was asked for is told, whenever the listening began.
    """

    def __init__(self, connection: ServerConnection) -> None:
        super().__init__()
        self._connection = connection
        self._hearing: asyncio.Task[None] | None = None
        self._filters: dict[Callable[[], None], NoticeFilter] = {}
        self._asked = NoticeFilter()
        self._cursor = ""

    def listen(
        self,
        hear: NoticeListener,
        *,
        turns_only: bool = False,
        runs: Collection[RunId] | None = None,
    ) -> Callable[[], None]:
        stop = super().listen(hear, turns_only=turns_only, runs=runs)
        self._filters[stop] = notice_filter(turns_only=turns_only, runs=runs)
        if self._hearing is None:
            self._cursor = self._connection.cursor
            self._begin()
        elif _joined([self._asked, *self._filters.values()]) != self._asked:
            # The server waits with less in mind.
            self._hearing.cancel()
            self._begin()

        def end() -> None:
            stop()
            self._filters.pop(stop, None)
            if not self._filters and self._hearing is not None:
                self._hearing.cancel()
                self._hearing = None

        return end

    async def close(self) -> None:
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.wait({self._hearing})
            self._hearing = None

    def _begin(self) -> None:
        self._asked = _joined(self._filters.values())
        self._hearing = asyncio.create_task(self._hear_on())

    async def _hear_on(self) -> None:
        while True:
            chosen = self._asked = _joined(self._filters.values())
            runs = None if chosen.runs is None else sorted(chosen.runs)
            asked = NoticesRequest(self._cursor, WAIT_SECONDS_MAX, chosen.turns_only, runs)
            try:
                page = await self._connection.ask(
                    "notices", asked, NoticePage, wait_seconds=WAIT_SECONDS_MAX
                )
            except AnewError:
                # They are hints: whoever needs the server will say that it is away.
                await asyncio.sleep(SERVER_PAUSE_SECONDS_MAX)
                continue
            self._cursor = page.cursor
            self.tell(page.notices)
            await asyncio.sleep(GATHER_SECONDS)


def _joined(filters: Iterable[NoticeFilter]) -> NoticeFilter:
    """What meets all of them."""
    every = list(filters)
    named: set[RunId] | None = set()
    for one in every:
        named = None if named is None or one.runs is None else named | one.runs
    if named is not None and len(named) > RUNS_NAMED_MAX:
        named = None
    return notice_filter(turns_only=all(one.turns_only for one in every), runs=named)
