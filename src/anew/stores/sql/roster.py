"""Who works on the database, how much waits in each pool, and which jobs wait for people."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from anew.engine.moments import NANOSECONDS
from anew.store import WORKERS_KEPT_SECONDS_MAX, HeldJob, JobRow, PoolLoad, Presence
from anew.stores.sql.dialect import Row, SqlDialect, SqlSession, Steps
from anew.stores.sql.rows import JOB_COLUMNS, job_row

_COLUMNS = Presence.__struct_fields__
_NAMES = ", ".join(_COLUMNS)
_BEAT = f"""
INSERT INTO anew.workers ({_NAMES}) VALUES ({", ".join("?" * len(_COLUMNS))})
ON CONFLICT (worker) DO UPDATE SET
{", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])}
"""
# Two who forget the same ones at once do not wait for each other.
_FORGET = """
DELETE FROM anew.workers WHERE worker IN (
    SELECT worker FROM anew.workers WHERE seen_at < ? {skip_locked}
)
"""
_LEAVE = "DELETE FROM anew.workers WHERE worker = ?"
_WORKERS = f"SELECT {_NAMES} FROM anew.workers ORDER BY seen_at DESC, worker LIMIT ?"


class SqlRoster:
    """What it writes changes no run. `loads` is the work that counts the jobs of each pool."""

    def __init__(self, session: SqlSession, loads: Callable[..., Steps[list[PoolLoad]]]) -> None:
        self._session = session
        self._loads = loads

    async def beat(self, presence: Presence) -> None:
        await self._session.write(_beat, presence)

    async def leave(self, worker: str) -> None:
        await self._session.write(_leave, worker)

    async def workers(self, limit: int = 1000) -> list[Presence]:
        return await self._session.read(_workers, limit)

    async def loads(self, now: int) -> list[PoolLoad]:
        return await self._session.read(self._loads, now)

    async def asking(self, limit: int = 1000) -> list[JobRow]:
        return await self._session.read(_asking, limit)


def _beat(dialect: SqlDialect, presence: Presence) -> Steps[None]:
    fields = msgspec.structs.asdict(presence)
    for name in ("worker", "host", "version"):
        fields[name] = dialect.to_text(fields[name])
    for name in ("pools", "jobs"):
        fields[name] = msgspec.json.encode(fields[name]).decode()
    yield _BEAT, tuple(fields.values())
    oldest = presence.seen_at - WORKERS_KEPT_SECONDS_MAX * NANOSECONDS
    yield _FORGET.format(skip_locked=dialect.skip_locked), (oldest,)


def _leave(dialect: SqlDialect, worker: str) -> Steps[None]:
    yield _LEAVE, (dialect.to_text(worker),)


def _workers(dialect: SqlDialect, limit: int) -> Steps[list[Presence]]:
    rows = yield _WORKERS, (limit,)
    return [_presence(dialect, row) for row in rows]


def _presence(dialect: SqlDialect, row: Row) -> Presence:
    fields = dict(zip(_COLUMNS, row, strict=True))
    for name in ("worker", "host", "version"):
        fields[name] = dialect.from_text(fields[name])
    fields["pools"] = msgspec.json.decode(fields["pools"], type=list[str])
    fields["jobs"] = msgspec.json.decode(fields["jobs"], type=list[HeldJob])
    return Presence(**fields)


def asking_queries(dialect: SqlDialect) -> tuple[str, str]:
    """Those with a deadline, and those without: each comes in the order of the index."""
    table = f"anew.jobs {dialect.index.format('jobs_asking')}"
    jobs = f"SELECT run, {JOB_COLUMNS} FROM {table} WHERE reason = 'person' AND {dialect.free}"
    order = "run, step, visit, iteration LIMIT ?"
    return (
        f"{jobs} AND due_at IS NOT NULL ORDER BY due_at, {order}",
        f"{jobs} AND due_at IS NULL ORDER BY {order}",
    )


def _asking(dialect: SqlDialect, limit: int) -> Steps[list[JobRow]]:
    soonest, open_ended = asking_queries(dialect)
    rows = yield soonest, (limit,)
    rows += yield open_ended, (limit - len(rows),)
    return [job_row(dialect, *row) for row in rows]
