"""Where workers at other machines wait for jobs: in line, at no cost until there is one.

Those who want the same stand in one line. A line is looked at when a notice or a due time says
that there may be something for it, and once in a while in case nobody told. Whoever came first is
served first. Knows who waits for what; does not know how they are reached.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.runtime.notice_buffer import NoticeBuffer
from anew.store import ANY_POOL, Database, Lease, LeaseResult, Notice, RunId, StoreError
from anew.stores.remote.wire import LeaseRequest

# Notices may get lost: a line that waits is looked at so often in any case, whatever else goes on.
POLL_SECONDS = 1.0
# No request is under way for longer. Who does not wait and says that it is quite another time goes
# by a clock of its own, and gets the moments it names.
REQUEST_SECONDS_MAX = 600
# Jobs that are due and could not be had are being taken by others.
CONTENDED_SECONDS = 0.05
# Leases that were handed out lately, in case the answer did not arrive.
LEASES_KEPT_MAX = 10_000
# What is asked of a database that does not answer is left to end when the database is closed.
CLOSE_SECONDS_MAX = 2.0
NOTHING = LeaseResult([], None)

# Returns when a caller cannot be answered any more.
Gone: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
_LineKey: TypeAlias = tuple[tuple[str, ...] | None, tuple[RunId, ...] | None]


class _Waiter(Struct, eq=False):
    asked: LeaseRequest
    number: int
    answer: asyncio.Future[LeaseResult]


class _Line(Struct, eq=False):
    """Callers who want the same, by number. `look_at`: when there may be something for them.

    `poll_at`, by the clock of the event loop: when to look though nobody told. No notice moves it.
    """

    pools: tuple[str, ...] | None
    runs: tuple[RunId, ...] | None
    callers: dict[int, _Waiter] = field(default_factory=dict)
    look_at: int = 0
    poll_at: float = field(default_factory=lambda: asyncio.get_running_loop().time() + POLL_SECONDS)

    @property
    def first(self) -> _Waiter:
        return next(iter(self.callers.values()))

    def due_by(self, notice: Notice) -> int | None:
        """When this notice says that there is something for this line."""
        if self.runs is not None and notice.run not in self.runs:
            return None
        moments = [
            at
            for pool, at in notice.due.items()
            if self.pools is None or pool == ANY_POOL or pool in self.pools
        ]
        return min(moments, default=None)


def stopping() -> StoreError:
    return StoreError("the server is stopping. Retry once it is back.")


class LeaseDispatcher:
    """Make one inside a running event loop; close it before the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lines: dict[_LineKey, _Line] = {}
        self._waiting: dict[str, _Waiter] = {}
        self._given: OrderedDict[str, LeaseResult] = OrderedDict()
        self._numbers = count()
        self._stir = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._is_closed = False
        self._stop_listening = database.notices.listen(self._hear)
        self.board = NoticeBuffer(database.notices)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    async def lease(self, asked: LeaseRequest, gone: Gone) -> LeaseResult:
        """Jobs to do, as soon as there are any; nothing once `wait_seconds` are over.

        Once the caller is `gone`, nothing that it waited for stays leased.
        """
        if self._is_closed:
            raise stopping()
        if asked.ticket in self._given:
            return await self._once_more(asked)
        self._send_away(asked.ticket)
        if asked.wait_seconds <= 0:
            batch = await self._take(self._as_of_now(asked))
        else:
            batch = await self._wait(asked, gone)
        if batch.leases:
            self._remember(asked.ticket, batch)
        return batch

    async def leave(self, ticket: str) -> None:
        """The caller with this ticket wants nothing any more, and hands back what it was given."""
        self._send_away(ticket)
        batch = self._given.get(ticket, NOTHING)
        self._remember(ticket, NOTHING)
        await self._hand_back(batch.leases)

    async def close(self) -> None:
        """Send everyone away who waits, at once, with nothing; take no more callers."""
        if self._is_closed:
            return
        self._is_closed = True
        self._stop_listening()
        self.board.close()
        for ticket in list(self._waiting):
            self._send_away(ticket)
        self._stir.set()
        if self._serving is not None:
            await asyncio.wait({self._serving}, timeout=CLOSE_SECONDS_MAX)

    # --- who waits -----------------------------------------------------------------------------

    async def _wait(self, asked: LeaseRequest, gone: Gone) -> LeaseResult:
        line = self._line(asked)
        caller = _Waiter(asked, next(self._numbers), asyncio.get_running_loop().create_future())
        line.callers[caller.number] = caller
        self._waiting[asked.ticket] = caller
        self._serve_on()
        leaving = asyncio.create_task(gone())
        first: set[asyncio.Future[Any]] = {caller.answer, leaving}
        try:
            await asyncio.wait(
                first, timeout=asked.wait_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            batch = caller.answer.result() if caller.answer.done() else NOTHING
            if leaving.done() and batch.leases:
                await self._hand_back(batch.leases)
                batch = NOTHING
        finally:
            leaving.cancel()
            # What is being leased for this caller finds that nobody waits for it.
            caller.answer.cancel()
            self._step_out(line, caller)
        return batch

    def _line(self, asked: LeaseRequest) -> _Line:
        pools = None if asked.pools is None else tuple(sorted(set(asked.pools)))
        runs = None if asked.runs is None else tuple(sorted(set(asked.runs)))
        key = pools, runs
        if key not in self._lines:
            self._lines[key] = _Line(pools, runs)
        return self._lines[key]

    def _step_out(self, line: _Line, caller: _Waiter) -> None:
        """The last of a line takes it along; who comes next is looked for at once."""
        line.callers.pop(caller.number, None)
        if not line.callers and self._lines.get((line.pools, line.runs)) is line:
            del self._lines[line.pools, line.runs]
        if self._waiting.get(caller.asked.ticket) is caller:
            del self._waiting[caller.asked.ticket]

    def _send_away(self, ticket: str) -> None:
        caller = self._waiting.pop(ticket, None)
        if caller is not None and not caller.answer.done():
            caller.answer.set_result(NOTHING)

    # --- finding jobs for them -----------------------------------------------------------------

    def _hear(self, notice: Notice) -> None:
        for line in self._lines.values() if notice.due else ():
            due_at = line.due_by(notice)
            if due_at is not None and due_at < line.look_at:
                line.look_at = due_at
                self._stir.set()

    def _serve_on(self) -> None:
        self._stir.set()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        while self._lines and not self._is_closed:
            self._stir.clear()
            line = self._due_line()
            if line is not None:
                await self._serve_first(line)
                continue
            lines = self._lines.values()
            poll_at = min(line.poll_at for line in lines)
            await self._until(min(line.look_at for line in lines), poll_at)

    def _due_line(self) -> _Line | None:
        """The one to look at: of the caller who came first, unless one was not looked at for long.

        Else a line that hears of jobs all the time, which others are quicker to take, would keep
        the rest from ever being looked at.
        """
        now, moment = self._database.clock.now(), asyncio.get_running_loop().time()
        lines = self._lines.values()
        late = [line for line in lines if line.poll_at <= moment]
        due = late or [line for line in lines if line.look_at <= now]
        return min(due, key=lambda line: line.first.number, default=None)

    async def _until(self, moment: int, poll_at: float) -> None:
        """Wait for a moment, or until something happens; at most until it is time to look."""
        left = max(0.0, poll_at - asyncio.get_running_loop().time())
        waits = [
            asyncio.ensure_future(self._database.clock.sleep_until(moment)),
            asyncio.ensure_future(self._stir.wait()),
        ]
        try:
            await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _serve_first(self, line: _Line) -> None:
        """Lease for the first in line, and learn when to look for the next."""
        caller = line.first
        if caller.answer.done():
            self._step_out(line, caller)
            return
        line.look_at = LAST_MOMENT
        line.poll_at = asyncio.get_running_loop().time() + POLL_SECONDS
        asked = self._as_of_now(caller.asked)
        try:
            batch = await self._take(asked)
        except Exception as error:  # the caller hears of it; the others are looked for later
            self._step_out(line, caller)
            if not caller.answer.done():
                caller.answer.set_exception(error)
            return
        if batch.next_due is not None:
            contended = asked.now + int(CONTENDED_SECONDS * NANOSECONDS)
            soonest = batch.next_due if batch.leases else max(batch.next_due, contended)
            line.look_at = min(line.look_at, soonest)
        if not batch.leases:
            return
        self._step_out(line, caller)
        if caller.answer.done():
            await self._hand_back(batch.leases)
        else:
            caller.answer.set_result(batch)

    def _as_of_now(self, asked: LeaseRequest) -> LeaseRequest:
        """As if it was asked at this moment: what is leased is kept for the whole time."""
        now = self._database.clock.now()
        late_seconds = abs(now - asked.now) / NANOSECONDS
        if asked.wait_seconds <= 0 and late_seconds > REQUEST_SECONDS_MAX:
            return asked
        return replace(asked, now=now, until=min(now + asked.until - asked.now, LAST_MOMENT))

    async def _take(self, asked: LeaseRequest) -> LeaseResult:
        return await self._database.store.lease(
            now=asked.now,
            until=asked.until,
            limit=asked.limit,
            pools=asked.pools,
            runs=asked.runs,
        )

    # --- answers that may not arrive -----------------------------------------------------------

    def _remember(self, ticket: str, batch: LeaseResult) -> None:
        self._given[ticket] = batch
        while len(self._given) > LEASES_KEPT_MAX:
            self._given.popitem(last=False)

    async def _once_more(self, asked: LeaseRequest) -> LeaseResult:
        """What a ticket was given, as far as that is still its own."""
        batch = self._given[asked.ticket]
        if not batch.leases:
            return batch
        until = self._as_of_now(asked).until
        return replace(batch, leases=await self._database.store.extend(batch.leases, until))

    async def _hand_back(self, leases: Sequence[Lease]) -> None:
        now = self._database.clock.now()
        for lease in leases:
            # One that cannot be handed back runs out.
            with suppress(StoreError):
                await self._database.store.release(lease, due_at=now)
