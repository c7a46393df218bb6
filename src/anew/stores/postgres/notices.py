"""Carries notices to other processes and hears theirs, by NOTIFY and LISTEN.

They are sent after the commit they tell of, many in one statement: a NOTIFY inside a transaction
makes commits wait for each other. One that gets lost is made up for by those who look by
themselves from time to time.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import uniform

import msgspec
from msgspec import Struct

from anew.store import ANY_POOL, Notice, RunId, StoreError
from anew.stores.notices import LocalNotices, is_for_others
from anew.stores.postgres.connection import Connection, ConnectionInfo, connect, hang_up
from anew.stores.postgres.pool import (
    BACKOFF_FIRST_SECONDS,
    BACKOFF_SECONDS_MAX,
    TROUBLE,
    ConnectionPool,
    Patience,
)
from anew.stores.postgres.values import text_array

CHANNEL = "anew"
# PostgreSQL takes less than 8,000.
PAYLOAD_BYTES_MAX = 7_500
# While the server is away, notices of no more runs than this are kept.
UNSENT_RUNS_MAX = 10_000

# What cannot be sent by then is not news any more.
PATIENCE = Patience(total_seconds=2.0, answer_seconds=5.0)

# Nothing is lost with a notice, so nobody waits until it is on disk.
_NOTIFY = f"""
SELECT pg_notify('{CHANNEL}', payload), set_config('synchronous_commit', 'off', true)
FROM unnest(%s::text[]) AS payload
"""


class _Row(Struct, frozen=True, array_like=True, omit_defaults=True):
    run: int
    version: int = 0
    due: dict[str, int] = {}
    has_turned: bool = False


class _Payload(Struct, frozen=True, array_like=True):
    sender: str
    rows: list[_Row]


_encode = msgspec.json.Encoder().encode
_payload = msgspec.json.Decoder(_Payload).decode


class PostgresNotices(LocalNotices):
    """Tells the tasks of this process, and those of others."""

    def __init__(self, place: ConnectionInfo, links: ConnectionPool) -> None:
        super().__init__()
        self._place = place
        self._links = links
        self._sender = secrets.token_hex(6)
        self._unsent: dict[RunId, Notice] = {}
        self._sends = False
        self._sending: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._hearing: Connection | None = None
        self._is_closed = False

    def tell(self, notices: Sequence[Notice]) -> None:
        super().tell(notices)
        if not self._sends:
            return
        for notice in notices:
            if is_for_others(notice):
                self._gather(notice)
        if self._unsent and self._sending is None:
            self._sending = asyncio.create_task(self._send(), name="anew-postgres-notify")

    async def carry(self, *, sends: bool) -> None:
        """Hear others from now on; they hear of this process if it `sends`."""
        self._sends = sends
        tried = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(tried), name="anew-postgres-listen")
        await tried.wait()

    async def close(self) -> None:
        """What was gathered is sent first."""
        self._sends = False
        if self._sending is not None:
            await self._sending
        self._is_closed = True
        if self._listening is not None:
            if self._hearing is not None:
                hang_up(self._hearing)
            else:
                self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
            self._listening = None

    def _gather(self, notice: Notice) -> None:
        known = self._unsent.get(notice.run)
        if known is not None:
            self._unsent[notice.run] = _joined(known, notice)
        elif len(self._unsent) < UNSENT_RUNS_MAX:
            self._unsent[notice.run] = notice

    async def _send(self) -> None:
        """All that has gathered in one statement, and then what has gathered meanwhile."""
        try:
            while self._unsent:
                notices, self._unsent = list(self._unsent.values()), {}
                payloads = text_array(payloads_of(self._sender, notices))

                async def notify(connection: Connection, payloads: bytes = payloads) -> None:
                    await connection.execute(_NOTIFY, (payloads,))

                with suppress(StoreError):
                    await self._links.run(notify, PATIENCE)
        finally:
            self._sending = None

    async def _listen(self, tried: asyncio.Event) -> None:
        """Until it is closed, on one connection after the other."""
        pause = BACKOFF_FIRST_SECONDS
        while not self._is_closed:
            with suppress(*TROUBLE):
                connection = await connect(self._place)
                pause = BACKOFF_FIRST_SECONDS
                await self._hear(connection, tried)
            tried.set()
            await asyncio.sleep(uniform(0.5, 1.0) * pause)
            pause = min(2 * pause, BACKOFF_SECONDS_MAX)

    async def _hear(self, connection: Connection, tried: asyncio.Event) -> None:
        """Until the connection is lost."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()
        number = connection.fileno()
        self._hearing = connection
        try:
            await connection.execute(f"LISTEN {CHANNEL}")
            # Told by the loop, and read by hand: psycopg's own way looks again and again.
            loop.add_reader(number, arrived.set)
            tried.set()
            while True:
                connection.pgconn.consume_input()
                while (notify := connection.pgconn.notifies()) is not None:
                    self._pass_on(notify.extra)
                await arrived.wait()
                arrived.clear()
        finally:
            loop.remove_reader(number)
            self._hearing = None
            await connection.close()

    def _pass_on(self, text: bytes) -> None:
        try:
            payload = _payload(text)
        except msgspec.DecodeError:
            return  # not ours
        if payload.sender == self._sender:
            return
        super().tell(
            [Notice(RunId(row.run), row.version, row.due, row.has_turned) for row in payload.rows]
        )


def payloads_of(sender: str, notices: Sequence[Notice]) -> Iterator[str]:
    """As few texts as will hold them, none of which is too long."""
    rows: list[bytes] = []
    frame = len(_encode(_Payload(sender, [])))
    size = frame
    for notice in notices:
        row = _row(notice)
        if rows and size + len(row) + 1 > PAYLOAD_BYTES_MAX:
            yield _joined_rows(sender, rows)
            rows, size = [], frame
        rows.append(row)
        size += len(row) + 1
    if rows:
        yield _joined_rows(sender, rows)


def _row(notice: Notice) -> bytes:
    row = _encode(_Row(notice.run, notice.version, dict(notice.due), notice.has_turned))
    if len(row) > PAYLOAD_BYTES_MAX // 2:
        # So many pools, or names so long, that it is shorter to say: any.
        soonest = {ANY_POOL: min(notice.due.values())}
        return _encode(_Row(notice.run, notice.version, soonest, notice.has_turned))
    return row


def _joined_rows(sender: str, rows: Sequence[bytes]) -> str:
    return _encode((sender, [msgspec.Raw(row) for row in rows])).decode()


def _joined(one: Notice, other: Notice) -> Notice:
    due = dict(one.due)
    for pool, at in other.due.items():
        due[pool] = min(at, due.get(pool, at))
    has_turned = one.has_turned or other.has_turned
    return Notice(one.run, max(one.version, other.version), due, has_turned)
