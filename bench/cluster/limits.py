"""PostgreSQL's own limit, measured like a side: durable rows of several clients, without an engine.

`python -m bench.cluster.limits CLIENTS SIZE URL` prints one JSON object. Each client is a process
with one connection and one prepared INSERT; each row is committed before the next.
"""

from __future__ import annotations

import json
import sys
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from time import perf_counter

import psycopg

from bench.durable.limits import ROW_BYTES

# The key and the columns of the table of events.
TABLE = "CREATE TABLE rows (run bigint, seq bigint, name text, data text, PRIMARY KEY (run, seq))"
INSERT = "INSERT INTO rows (run, seq, name, data) VALUES (%s, %s, %s, %s)"
WARM_ROWS = 50
WAIT_SECONDS_MAX = 60


def main(words: list[str]) -> None:
    clients, size, url = int(words[0]), int(words[1]), words[2]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLE)
    context = get_context("fork")
    ready = context.Barrier(clients + 1)
    processes = [
        context.Process(target=_insert, args=(url, size // clients, number, ready))
        for number in range(clients)
    ]
    for process in processes:
        process.start()
    ready.wait(WAIT_SECONDS_MAX)
    begun = perf_counter()
    for process in processes:
        process.join(WAIT_SECONDS_MAX)
    assert all(process.exitcode == 0 for process in processes)
    print(json.dumps({"seconds": perf_counter() - begun}))


def _insert(url: str, rows: int, run: int, ready: Barrier) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        data = "x" * ROW_BYTES
        for seq in range(-WARM_ROWS, rows):
            if seq == 0:
                ready.wait(WAIT_SECONDS_MAX)
            connection.execute(INSERT, (run, seq, "task.done", data), prepare=True)


if __name__ == "__main__":
    main(sys.argv[1:])
