"""Hears of what others change at a server, for as long as somebody here listens.

The server is told what all the listeners together have a use for, and is silent about the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable

from anew.errors import AnewError
from anew.store import Hear, RunId
from anew.stores.notices import LocalNotices, Wish, wish_of
from anew.stores.remote.connection import SERVER_PAUSE_SECONDS_MAX, Connection
from anew.stores.remote.wire import WAIT_SECONDS_MAX, NoticePage, NoticesAsked

# Who wants to hear of more runs than this hears of all.
RUNS_NAMED_MAX = 1_000
# Between an answer and the next question: where much happens, many are told at once.
GATHER_SECONDS = 0.02


class RemoteNotices(LocalNotices):
    """Those of this process at once, and those of the server as they come.

    What happens after the newest answer was asked for is told, whenever the listening began.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._hearing: asyncio.Task[None] | None = None
        self._wishes: dict[Callable[[], None], Wish] = {}
        self._asked = Wish()
        self._cursor = ""

    def listen(
        self, hear: Hear, *, turns_only: bool = False, runs: Collection[RunId] | None = None
    ) -> Callable[[], None]:
        stop = super().listen(hear, turns_only=turns_only, runs=runs)
        self._wishes[stop] = wish_of(turns_only=turns_only, runs=runs)
        if self._hearing is None:
            self._cursor = self._connection.cursor
            self._begin()
        elif _joined([self._asked, *self._wishes.values()]) != self._asked:
            # The server waits with less in mind.
            self._hearing.cancel()
            self._begin()

        def end() -> None:
            stop()
            self._wishes.pop(stop, None)
            if not self._wishes and self._hearing is not None:
                self._hearing.cancel()
                self._hearing = None

        return end

    async def close(self) -> None:
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.wait({self._hearing})
            self._hearing = None

    def _begin(self) -> None:
        self._asked = _joined(self._wishes.values())
        self._hearing = asyncio.create_task(self._hear_on())

    async def _hear_on(self) -> None:
        while True:
            wish = self._asked = _joined(self._wishes.values())
            runs = None if wish.runs is None else sorted(wish.runs)
            asked = NoticesAsked(self._cursor, WAIT_SECONDS_MAX, wish.turns_only, runs)
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


def _joined(wishes: Iterable[Wish]) -> Wish:
    """What meets all of them."""
    every = list(wishes)
    named: set[RunId] | None = set()
    for wish in every:
        named = None if named is None or wish.runs is None else named | wish.runs
    if named is not None and len(named) > RUNS_NAMED_MAX:
        named = None
    return wish_of(turns_only=all(wish.turns_only for wish in every), runs=named)
