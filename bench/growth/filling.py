"""Rows that lie in a database beside what is measured, all at once: a million runs are not played.

`python -m bench.growth.filling KIND NUMBER PLACE` plays one run and copies its rows. Writes Anew's
tables directly.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from typing import TypeAlias

import apsw

from anew.store import RunId
from anew.stores.sqlite.commits import LOG_IDS
from bench.cluster import reading
from bench.cluster.postgres import execute
from bench.growth.documents import chain
from bench.growth.engine import Site, engine_at, play

JOBS_PER_RUN = reading.JOBS_PER_WAITING_RUN
COPIED_STEPS = 1

SQLITE_NUMBERS = """
CREATE TEMPORARY TABLE numbers (value INTEGER PRIMARY KEY);
INSERT INTO numbers
WITH RECURSIVE each_one (value) AS (
    VALUES (0) UNION ALL SELECT value + 1 FROM each_one WHERE value + 1 < :number
)
SELECT value FROM each_one
"""
# The copies have the ids before that of the run, and the logs after its own.
SQLITE_FINISHED = (
    """
    INSERT INTO runs (run, log, program, digest, status, created_at, ended_at, depth)
    SELECT run - :number + value, log + (1 + value) * :ids, program, digest, status,
        created_at - :number + value, ended_at - :number + value, depth
    FROM numbers CROSS JOIN runs WHERE run = :run
    """,
    """
    INSERT INTO events (id, at, name, data, replaced)
    SELECT id + (1 + value) * :ids, at, name, data, replaced
    FROM numbers CROSS JOIN (
        SELECT events.* FROM runs CROSS JOIN events ON id > log AND id < log + :ids
        WHERE run = :run
    )
    """,
)
# Due in a month, a millisecond apart, in the pool that everyone asks for.
SQLITE_WAITING = (
    """
    INSERT INTO runs (run, log, program, digest, status, created_at, depth)
    SELECT 1 + value, log + (1 + value) * :ids, program, digest, 'waiting', created_at, depth
    FROM numbers CROSS JOIN runs WHERE run = :run AND value <= (:number - 1) / :each
    """,
    """
    INSERT INTO jobs (
        is_leased, run, step, visit, iteration, pool, due_at, reason, attempt, token
    )
    SELECT 0, 1 + value / :each, 'wait', 1, value % :each, 'default',
        (unixepoch() + 2592000) * 1000000000 + value * 1000000, 'sleep', 1, 1
    FROM numbers
    """,
)
POSTGRES_FINISHED = (
    """
    INSERT INTO anew.runs
        (run, program, digest, status, version, created_at, updated_at, ended_at, depth)
    SELECT run - 1 - n, program, digest, status, version,
        created_at - n, updated_at - n, ended_at - n, depth
    FROM anew.runs, generate_series(%s::bigint - 1, 0, -1) AS n WHERE run = %s
    """,
    """
    INSERT INTO anew.events (run, seq, at, name, data, replaced)
    SELECT run - 1 - n, seq, at, name, data, replaced
    FROM generate_series(%s::bigint - 1, 0, -1) AS n CROSS JOIN LATERAL (
        SELECT * FROM anew.events WHERE run = %s ORDER BY seq OFFSET 0
    ) AS copied
    """,
)

Fill: TypeAlias = Callable[[Site, RunId, int], None]


def finished(site: Site, run: RunId, number: int) -> None:
    """So many runs that ended as this one did."""
    if site.is_shared:
        for statement in POSTGRES_FINISHED:
            execute(site.place, statement, (number, run))
        execute(site.place, "VACUUM (ANALYZE) anew.events")
        reading.settle(site.place)
    else:
        _fill_file(site, SQLITE_FINISHED, run, number)


def waiting(site: Site, run: RunId, number: int) -> None:
    """So many jobs that are due in a month."""
    if site.is_shared:
        reading.add_waiting(site.place, number)
    else:
        _fill_file(site, SQLITE_WAITING, run, number)


KINDS: dict[str, Fill] = {"finished": finished, "waiting": waiting}


def _fill_file(site: Site, statements: Sequence[str], run: RunId, number: int) -> None:
    connection = apsw.Connection(str(site.file))
    connection.pragma("synchronous", "OFF")
    values = {"run": run, "number": number, "ids": LOG_IDS, "each": JOBS_PER_RUN}
    with connection:
        for statement in (SQLITE_NUMBERS, *statements):
            named = {name: value for name, value in values.items() if f":{name}" in statement}
            connection.execute(statement, named)
    connection.pragma("wal_checkpoint", "TRUNCATE")
    connection.close()


async def _copied_run(site: Site) -> RunId:
    async with engine_at(site) as engine:
        [run] = await play(engine, site.compiled(chain(COPIED_STEPS)))
    return run


def main(words: Sequence[str]) -> None:
    kind, number, place = words
    site = Site(place)
    run = asyncio.run(_copied_run(site))
    if int(number):
        KINDS[kind](site, run, int(number))
    print(json.dumps({"rows": int(number)}))


if __name__ == "__main__":
    main(sys.argv[1:])
