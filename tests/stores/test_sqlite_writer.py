"""The writer: transactions are shared, failures are not, and a full disk or a kill costs nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from anew.store import RunFilter, RunId, StaleVersion, StoreError
from anew.stores.contract.making import RUN, first, follows, job, lease, paused, processed
from anew.stores.sqlite import SqliteDatabase
from anew.stores.sqlite import writer as writer_module

ROOT = Path(__file__).resolve().parents[2]


async def together(database, *asked):
    """Ask while the writer cannot begin, so that all wait; their answers in order."""
    with database._writer._lock:
        waiting = [asyncio.ensure_future(one) for one in asked]
        await asyncio.sleep(0)
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_what_waits_together_shares_a_transaction(tmp_path):
    async def write() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        commits = [database.store.commit(first(RunId(n), [job()])) for n in range(1, 201)]
        assert await together(database, *commits) == [None] * 200
        # The thread may have taken some of them before it was held up.
        assert database.transactions <= 2
        assert len((await lease(database, limit=1000)).leases) == 200
        await database.close()

    asyncio.run(write())


def test_a_group_has_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "GROUP_MAX", 10)

    async def write() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        await together(database, *(database.store.commit(first(RunId(n))) for n in range(1, 101)))
        assert 10 <= database.transactions <= 11
        await database.close()

    asyncio.run(write())


def test_work_that_fails_unexpectedly_is_undone_alone(tmp_path):
    def broken(connection):
        connection.execute("INSERT INTO labels VALUES ('half', 'done', 1)")
        raise ZeroDivisionError

    async def write() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        answers = await together(
            database,
            database.store.commit(first(RunId(1))),
            database._writer.do(broken),
            database._writer.do(lambda connection: connection.execute("SELECT nonsense")),
            database.store.commit(follows(3, paused(4))),
            database.store.commit(first(RunId(2))),
        )
        kinds = [type(answer) for answer in answers]
        assert kinds == [type(None), ZeroDivisionError, StoreError, StaleVersion, type(None)]
        with pytest.raises(ZeroDivisionError):
            await database._writer.do(broken)
        assert await database.archive.runs(RunFilter(labels={"half": "done"})) == []
        assert [row.run for row in await database.archive.runs(RunFilter())] == [2, 1]
        await database.close()

    asyncio.run(write())


def test_a_caller_that_gave_up_is_left_out(tmp_path):
    async def write() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        with database._writer._lock:
            blocker = asyncio.ensure_future(database.store.commit(first(RunId(1))))
            await asyncio.sleep(0)
            gone = asyncio.ensure_future(database.store.commit(first(RunId(2))))
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.sleep(0)
        await blocker
        await database.store.commit(first(RunId(3)))
        assert [row.run for row in await database.archive.runs(RunFilter())] == [3, 1]
        await database.close()

    asyncio.run(write())


def test_a_quick_disk_needs_no_change_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "QUICK_FLUSH_SECONDS", 1.0)

    class Queue:
        def empty(self):
            return True

        def put(self, _):
            raise AssertionError("asked the thread")

    async def use() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        queue, database._writer._queue = database._writer._queue, Queue()
        database._writer._flush_seconds = 0.0
        for n in range(1, 6):
            await database.store.commit(first(RunId(n)))
        with pytest.raises(StaleVersion):
            await database.store.commit(follows(7, paused(8)))
        await asyncio.sleep(0)
        await database.store.commit(first(RunId(6)))
        assert database.transactions == 6
        database._writer._queue = queue
        await database.close()

    asyncio.run(use())


def test_those_who_come_together_share_a_transaction_on_a_quick_disk_too(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "QUICK_FLUSH_SECONDS", 1.0)

    async def write() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        database._writer._flush_seconds = 0.0
        await asyncio.gather(*(database.store.commit(first(RunId(n))) for n in range(1, 201)))
        assert database.transactions < 100
        await database.close()

    asyncio.run(write())


def test_a_full_disk_is_told_and_changes_nothing(tmp_path):
    async def write() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        await database.store.commit(first())
        connection = database._writer._connection
        pages = connection.pragma("page_count")
        connection.pragma("max_page_count", pages + 2)
        large = follows(1, processed(2, "x" * 1_000_000), jobs=[job()])
        with pytest.raises(StoreError, match=r"the disk is full .*Free some space"):
            await database.store.commit(large)
        answers = await together(
            database, database.store.commit(large), database.store.commit(first(RunId(8)))
        )
        assert [type(answer) for answer in answers] == [StoreError, type(None)]
        assert len(await database.archive.events(RUN)) == 1
        assert await database.archive.jobs(RUN) == []
        connection.pragma("max_page_count", 1_000_000)
        await database.store.commit(large)
        assert len(await database.archive.events(RUN)) == 2
        await database.close()

    asyncio.run(write())


WRITER = """
import asyncio, resource, signal, sys
from anew.store import RunId, StoreError
from anew.stores.contract.making import first, follows, paused, processed
from anew.stores.sqlite import SqliteDatabase

async def write(path, limit):
    database = SqliteDatabase.open(path)
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    await database.store.commit(first(RunId(7)))
    for version in range(1, 20):
        try:
            value = f"{version:2} " * 40_000 if limit else version
            await database.store.commit(follows(version, processed(version + 1, value)))
        except StoreError as error:
            return print(error)
        print(version + 1, flush=True)
    await database.close()

asyncio.run(write(sys.argv[1], int(sys.argv[2])))
"""


def run_writer(path: Path, *, limit: int = 0, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", WRITER, str(path), str(limit)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def version_in(path: Path) -> int:
    """What a new owner finds, after checking that the log has no gap and the file is sound."""

    async def read() -> int:
        database = SqliteDatabase.open(path)
        seqs = [event.seq for event in await database.archive.events(RUN)]
        assert seqs == list(range(1, len(seqs) + 1))
        await database.close()
        return len(seqs)

    found = asyncio.run(read())
    connection = apsw.Connection(str(path))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
    return found


def test_a_disk_that_takes_no_more_is_told_and_nothing_is_half_written(tmp_path):
    path = tmp_path / "runs.db"
    done = run_writer(path, limit=1_000_000)
    *acknowledged, error = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert error.startswith(f"database {path}: ")
    assert "the disk" in error
    assert version_in(path) == int(acknowledged[-1])


def test_killed_at_every_commit_point_what_was_told_is_there(tmp_path):
    count = tmp_path / "count"
    done = run_writer(tmp_path / "whole.db", ANEW_CRASH_COUNT_FILE=str(count))
    assert done.returncode == 0, done.stderr
    # The schema and twenty commits, two points each.
    assert int(count.read_text()) == 42
    for point in (1, 2, 3, 4, 5, 17, 18, 42):
        path = tmp_path / f"{point}.db"
        done = run_writer(path, ANEW_CRASH_AT=str(point))
        assert done.returncode == -signal.SIGKILL
        commits = (point - 1) // 2
        assert [int(line) for line in done.stdout.splitlines()] == list(range(2, commits))
        # Before a commit it never happened; after it, it has, though nobody was told.
        assert version_in(path) == (commits - 1 if point % 2 and commits else commits)


def test_a_reader_sees_a_file_whose_owner_was_killed(tmp_path):
    path = tmp_path / "runs.db"
    run_writer(path, ANEW_CRASH_AT="12")

    async def read() -> None:
        reader = SqliteDatabase.open_read_only(path)
        assert len(await reader.archive.events(RUN)) == 5
        await reader.close()

    asyncio.run(read())


def test_the_log_file_starts_over_among_readers_that_come_and_go(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "CHECKPOINT_PAGES", 20)
    monkeypatch.setattr(writer_module, "RESTART_PAGES", 60)
    path = tmp_path / "runs.db"
    done, began = threading.Event(), threading.Event()

    def read() -> None:
        """Begin a view before the last one ends, so that at any moment one is open."""
        one, other = (apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) for _ in range(2))
        one.execute("BEGIN; SELECT * FROM runs").fetchall()
        while not done.is_set():
            other.execute("BEGIN; SELECT * FROM runs").fetchall()
            began.set()
            one.execute("COMMIT")
            one, other = other, one
        one.close()
        other.close()

    async def write() -> None:
        database = SqliteDatabase.open(path)
        await database.store.commit(first())
        reader = threading.Thread(target=read)
        reader.start()
        began.wait(60)
        for version in range(1, 300):
            event = processed(version + 1, "x" * 8000)
            await database.store.commit(follows(version, event))
        size = (tmp_path / "runs.db-wal").stat().st_size
        done.set()
        reader.join(60)
        await database.close()
        # What was written is eight times as much.
        assert size < 300 * 8000 / 2

    asyncio.run(write())


def test_a_reader_that_stays_delays_the_new_beginning_only(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "CHECKPOINT_PAGES", 20)
    monkeypatch.setattr(writer_module, "RESTART_PAGES", 60)
    monkeypatch.setattr(writer_module, "RESTART_MILLISECONDS", 1)
    path, log = tmp_path / "runs.db", tmp_path / "runs.db-wal"

    async def write() -> None:
        database = SqliteDatabase.open(path)
        await database.store.commit(first())
        stays = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        stays.execute("BEGIN; SELECT * FROM runs").fetchall()
        for version in range(1, 100):
            await database.store.commit(follows(version, processed(version + 1, "x" * 8000)))
        grown = log.stat().st_size
        stays.close()
        for version in range(100, 400):
            await database.store.commit(follows(version, processed(version + 1, "x" * 8000)))
        assert grown > 99 * 8000
        assert log.stat().st_size < 2 * grown
        await database.close()

    asyncio.run(write())
