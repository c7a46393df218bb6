"""What changed lately at this server, for others who ask what they have missed.

Notices are hints, so a bounded number is kept, and who comes too late hears only of those.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from secrets import token_hex

from anew.store import Notice, Notices, RunId
from anew.stores.notices import NoticeFilter

# About a second of the busiest server. Whoever is away longer looks for itself.
NOTICES_KEPT_MAX = 10_000
# No server lives to count further.
CURSOR_DIGITS_MAX = 20
# Who was just answered is told no sooner of what others commit, and then of all of it at once. A
# turn is told at once: somebody waits for it.
GATHER_SECONDS = 0.05
ALL = NoticeFilter()


class NoticeBuffer:
    """Hears everything from the moment it is made. `boot` names this life of the server."""

    def __init__(self, notices: Notices) -> None:
        self.boot = token_hex(8)
        self._kept: deque[Notice] = deque(maxlen=NOTICES_KEPT_MAX)
        self._count = 0
        self._came = asyncio.Event()
        self._turned = asyncio.Event()
        self._is_closed = False
        self._stop = notices.listen(self._hear)

    @property
    def cursor(self) -> str:
        """How far it has come."""
        return f"{self.boot}-{self._count}"

    async def after(
        self, cursor: str, wait_seconds: float, chosen: NoticeFilter = ALL
    ) -> tuple[str, list[Notice]]:
        """The notices after a cursor, one for each run, and the cursor to ask with next.

        With none that matches it waits for the first, `wait_seconds` at the longest. A cursor
        of another life, or of nobody, is taken for the newest.
        """
        clock = asyncio.get_running_loop().time
        gathered_at = clock() + min(GATHER_SECONDS, wait_seconds)
        ends_at = clock() + wait_seconds
        count, told = self._count_of(cursor), list[Notice]()
        while True:
            told += [notice for notice in self._since(count) if chosen.matches(notice)]
            count = self._count
            left = (gathered_at if told else ends_at) - clock()
            has_turned = any(notice.has_turned for notice in told)
            if self._is_closed or has_turned or left <= 0:
                return self.cursor, merged(told)
            # Nothing else would be told any sooner.
            await _wait(self._turned if told or chosen.turns_only else self._came, left)

    def close(self) -> None:
        """Let those who wait go."""
        if not self._is_closed:
            self._is_closed = True
            self._stop()
            self._came.set()
            self._turned.set()

    def _count_of(self, cursor: str) -> int:
        boot, _, number = cursor.partition("-")
        is_ours = boot == self.boot and number.isdecimal() and len(number) <= CURSOR_DIGITS_MAX
        return int(number) if is_ours else self._count

    def _since(self, count: int) -> Iterator[Notice]:
        missed = max(0, min(self._count - count, len(self._kept)))
        return (self._kept[place - missed] for place in range(missed))

    def _hear(self, notice: Notice) -> None:
        self._kept.append(notice)
        self._count += 1
        # Everyone who waits now is woken; who comes later waits for the next.
        self._came.set()
        self._came = asyncio.Event()
        if notice.has_turned:
            self._turned.set()
            self._turned = asyncio.Event()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def merged(notices: Iterable[Notice]) -> list[Notice]:
    """One notice for each run, which tells what all of them did."""
    by_run: dict[RunId, Notice] = {}
    for notice in notices:
        known = by_run.get(notice.run)
        by_run[notice.run] = notice if known is None else _both(known, notice)
    return list(by_run.values())


def _both(one: Notice, other: Notice) -> Notice:
    due = dict(one.due)
    for pool, at in other.due.items():
        due[pool] = min(at, due.get(pool, at))
    version = max(one.version, other.version)
    return Notice(one.run, version, due, one.has_turned or other.has_turned)
