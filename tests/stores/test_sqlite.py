"""The SQLite file: who may open it, what a stranger's file gets, how the schema moves on."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from statistics import median
from threading import Event, Thread

import apsw
import pytest
from msgspec.structs import replace

from anew.engine.fingerprints import fingerprint_of
from anew.engine.state import RunState, RunStatus
from anew.runtime.databases import open_database
from anew.runtime.ownership import Ownership
from anew.store import (
    FailureFilter,
    Lease,
    NewJob,
    RunFilter,
    RunHead,
    RunId,
    StoredProgram,
    StoreError,
)
from anew.stores.contract.making import (
    LATER,
    NOW,
    RUN,
    RUNNING,
    first,
    follows,
    job,
    lease,
    paused,
    processed,
    ref,
)
from anew.stores.sql.migrations import Migration, OlderSchema
from anew.stores.sqlite import SqliteDatabase
from anew.stores.sqlite.commits import FILE_RUNS_MAX, LOG_EVENTS_MAX, LOG_IDS
from anew.stores.sqlite.connection import APPLICATION_ID, BUSY_MILLISECONDS, transaction
from anew.stores.sqlite.migrations import check_schema, migrate
from anew.stores.sqlite.migrations import sqlite_migrations as migrations


def closed(database: SqliteDatabase) -> None:
    asyncio.run(database.close())


def made(path: Path) -> Path:
    """A file with one run in it."""

    async def make() -> None:
        database = SqliteDatabase.open(path)
        await database.store.commit(first(jobs=[job()]))
        await database.close()

    asyncio.run(make())
    return path


def query(path: Path, statement: str, *values: object) -> list:
    connection = apsw.Connection(str(path))
    rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows


def test_a_new_file_is_ours_and_durable(tmp_path):
    path = made(tmp_path / "runs.db")
    assert query(path, "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert query(path, "PRAGMA journal_mode") == [("wal",)]
    known = [(migration.number, migration.name) for migration in migrations()]
    assert query(path, "SELECT number, name FROM migrations") == known
    assert known[0] == (1, "0001_runs")
    database = SqliteDatabase.open(path)
    assert database._writer._connection.pragma("synchronous") == 2
    closed(database)
    database = SqliteDatabase.open(path, synchronous="NORMAL")
    assert database._writer._connection.pragma("synchronous") == 1
    closed(database)


def test_what_was_written_is_there_after_reopening(tmp_path):
    path = made(tmp_path / "runs.db")

    async def read() -> None:
        database = SqliteDatabase.open(path)
        assert [row.run for row in await database.archive.runs(RunFilter())] == [RUN]
        assert len((await lease(database)).leases) == 1
        await database.close()
        await database.close()

    asyncio.run(read())
    assert [file.name for file in tmp_path.iterdir()] == ["runs.db"]


def test_a_closed_database_says_so(tmp_path):
    async def use() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        await database.close()
        with pytest.raises(StoreError, match="is closed"):
            await database.store.commit(first())
        with pytest.raises(StoreError, match="is closed"):
            await database.archive.run(RUN)

    asyncio.run(use())


def test_closing_does_what_was_asked_before(tmp_path):
    path = tmp_path / "runs.db"

    async def write() -> None:
        database = SqliteDatabase.open(path)
        asked = [
            asyncio.ensure_future(database.store.commit(first(RunId(n)))) for n in range(1, 51)
        ]
        await asyncio.sleep(0)
        await database.close()
        await asyncio.gather(*asked)

    asyncio.run(write())
    assert query(path, "SELECT count(*) FROM runs") == [(50,)]


def test_a_folder_is_made_when_asked_only(tmp_path):
    path = tmp_path / "one" / "two" / "runs.db"
    with pytest.raises(StoreError, match=r"two is not a folder\. Create it"):
        SqliteDatabase.open(path)
    assert list(tmp_path.iterdir()) == []
    closed(SqliteDatabase.open(path, creates_folder=True))
    assert path.is_file()


def test_places_that_cannot_hold_a_file_are_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is not a folder"):
        SqliteDatabase.open(tmp_path / "file" / "runs.db")
    with pytest.raises(StoreError, match=r"cannot be created \(Not a directory\)"):
        SqliteDatabase.open(tmp_path / "file" / "folder" / "runs.db", creates_folder=True)
    with pytest.raises(StoreError, match=r"is a folder\. Name a file"):
        SqliteDatabase.open(tmp_path)


def test_a_file_sqlite_may_not_open_is_refused(tmp_path):
    (tmp_path / "runs.db").symlink_to(tmp_path / "nowhere" / "runs.db")
    with pytest.raises(StoreError, match=r"it cannot be opened .*Check that the folder exists"):
        SqliteDatabase.open(tmp_path / "runs.db")


@pytest.mark.parametrize("application_id", [0, 77])
def test_the_database_of_another_program_is_left_alone(tmp_path, application_id):
    path = tmp_path / "other.db"
    query(path, f"CREATE TABLE theirs (x); PRAGMA application_id = {application_id}")
    before = path.read_bytes()
    for opening in (SqliteDatabase.open, SqliteDatabase.open_read_only):
        with pytest.raises(StoreError, match=f"another program .*{application_id}.*another file"):
            opening(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes\n" * 1000)
    for opening in (SqliteDatabase.open, SqliteDatabase.open_read_only):
        with pytest.raises(StoreError, match="not a SQLite database"):
            opening(path)
    assert path.read_text() == "these are my notes\n" * 1000


def test_a_damaged_file_says_so(tmp_path):
    path, page = made(tmp_path / "runs.db"), 4096
    ((number,),) = query(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'events'")
    content = bytearray(path.read_bytes())
    content[(number - 1) * page : number * page] = b"\xa5" * page
    path.write_bytes(content)

    async def use() -> None:
        database = SqliteDatabase.open(path)
        for asked in (database.store.commit(first(RunId(8))), database.store.load(RUN)):
            with pytest.raises(StoreError, match=r"the file is damaged .*Restore it from a backup"):
                await asked
        await database.close()

    asyncio.run(use())
    assert query(path, "SELECT run FROM runs") == [(RUN,)]


def test_a_cut_file_says_so(tmp_path):
    path = made(tmp_path / "runs.db")
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(StoreError, match="the file is damaged"):
        SqliteDatabase.open(path)


def test_a_newer_schema_is_refused(tmp_path):
    path = made(tmp_path / "runs.db")
    newest = len(migrations())
    query(path, "INSERT INTO migrations VALUES (?, 'more', 'x', 0)", newest + 1)
    told = rf"has schema {newest + 1},.*up to {newest}\. Upgrade Anew"
    for opening in (SqliteDatabase.open, SqliteDatabase.open_read_only):
        with pytest.raises(StoreError, match=told):
            opening(path)


def test_a_changed_migration_is_refused(tmp_path):
    path = made(tmp_path / "runs.db")
    query(path, "UPDATE migrations SET checksum = 'other' WHERE number = 1")
    with pytest.raises(StoreError, match=r"schema 1 \(0001_runs\) was made by another version"):
        SqliteDatabase.open(path)


def test_missing_migrations_are_applied_in_order(tmp_path):
    path = made(tmp_path / "runs.db")
    newest = len(migrations())
    more = [
        Migration(newest + 1, "add", "ALTER TABLE runs ADD COLUMN colour TEXT"),
        Migration(newest + 2, "fill", "UPDATE runs SET colour = 'blue'"),
    ]
    connection = apsw.Connection(str(path))
    told = rf"has schema {newest}.*reads schema {newest + 2}\. Stop the older"
    with pytest.raises(StoreError, match=told):
        check_schema(connection, str(path), migrations() + more)
    for _ in range(2):
        migrate(connection, str(path), migrations() + more)
    check_schema(connection, str(path), migrations() + more)
    connection.close()
    assert query(path, "SELECT run, colour FROM runs") == [(RUN, "blue")]
    numbers = [(number,) for number in range(1, newest + 3)]
    assert query(path, "SELECT number FROM migrations") == numbers


def test_a_failing_migration_changes_nothing(tmp_path):
    path = made(tmp_path / "runs.db")
    newest = len(migrations())
    more = [
        Migration(newest + 1, "add", "ALTER TABLE runs ADD COLUMN colour TEXT"),
        Migration(newest + 2, "wrong", "UPDATE runs SET color = 'blue'"),
    ]
    connection = apsw.Connection(str(path))
    with pytest.raises(StoreError, match="color"):
        migrate(connection, str(path), migrations() + more)
    connection.close()
    assert query(path, "SELECT count(*) FROM migrations") == [(newest,)]
    closed(SqliteDatabase.open(path))


# A script that was released stays as it is: files in the world have its checksum.
RELEASED = {
    "0001_runs": "32b40642f424692703dd5d3df7759d9fe8300992a625266b5a3b9a67d9ecf36c",
    "0002_programs": "fcfc9ebbc3d6b2d593295a568dfa2d3d58eef14db5134c2a3f4670f916240b94",
}


def test_a_released_migration_never_changes():
    known = {migration.name: migration.checksum for migration in migrations()}
    assert {name: known[name] for name in RELEASED} == RELEASED


def of_an_unreleased_version(path: Path, scripts: int) -> Path:
    """A file with all that is in a schema, made by the first of more and smaller steps."""
    path = made(path)
    newest = next(one for one in migrations() if one.replaces)
    for later in ("TRIGGER artifacts_of_run", "TABLE artifacts", "TABLE guards"):
        query(path, f"DROP {later}")
    query(path, "ALTER TABLE programs DROP COLUMN tools")
    query(path, "DELETE FROM migrations WHERE number >= ?", newest.number)
    for number, checksum in enumerate(newest.replaces[:scripts], newest.number):
        query(path, "INSERT INTO migrations VALUES (?, 'step', ?, 0)", number, checksum)
    return path


def test_a_file_of_the_last_unreleased_version_is_taken_over(tmp_path):
    path = of_an_unreleased_version(tmp_path / "runs.db", 4)
    with pytest.raises(OlderSchema, match="this one brings it up to date"):
        SqliteDatabase.open_read_only(path)
    closed(SqliteDatabase.open(path))
    reader = SqliteDatabase.open_read_only(path)
    assert len(asyncio.run(reader.archive.events(RUN))) == 1
    closed(reader)
    known = [(one.number, one.name, one.checksum) for one in migrations()]
    assert query(path, "SELECT number, name, checksum FROM migrations") == known


@pytest.mark.parametrize("scripts", [1, 2, 3])
def test_a_file_of_an_earlier_unreleased_version_is_refused(tmp_path, scripts):
    path = of_an_unreleased_version(tmp_path / "runs.db", scripts)
    told = r"schema 3 \(step\) was made by another version of Anew.*Use the version that made it"
    for opening in (SqliteDatabase.open, SqliteDatabase.open_read_only):
        with pytest.raises(StoreError, match=told):
            opening(path)


def of_the_first_version(path: Path) -> Path:
    """A file as the first version left it: a run, and a program that was registered."""
    connection = apsw.Connection(str(path))
    migrate(connection, str(path), migrations()[:1])
    connection.close()
    row = ("digest", "flow", "source", "flow.yaml", NOW)
    query(path, "INSERT INTO programs VALUES (?, ?, ?, ?, ?)", *row)
    query(path, "INSERT INTO versions VALUES ('flow', 1, 'digest', ?)", NOW)
    query(
        path,
        "INSERT INTO runs (run, log, program, digest, status, created_at, depth) "
        "VALUES (?, 0, 'flow', 'digest', 'running', ?, 0)",
        RUN,
        NOW,
    )
    return path


def test_a_file_of_the_first_version_is_opened_with_all_it_holds(tmp_path):
    path = of_the_first_version(tmp_path / "runs.db")

    async def read() -> None:
        database = SqliteDatabase.open(path)
        kept = StoredProgram("digest", "flow", 0, "source", "flow.yaml", NOW)
        assert await database.catalog.get("digest") == kept
        assert await database.catalog.find("flow") == replace(kept, version=1)
        assert [row.run for row in await database.archive.runs(RunFilter())] == [RUN]
        graph = replace(kept, digest="other", dialect="docs", files={"a": "b"})
        await database.catalog.keep(graph)
        assert await database.catalog.get("other") == graph
        await database.close()

    asyncio.run(read())


def test_runs_that_failed_before_fingerprints_get_theirs(tmp_path):
    path = of_the_first_version(tmp_path / "runs.db")
    error = {"kind": "auth", "message": "user 5 is not known"}
    values = (json.dumps(error), NOW)
    query(path, "UPDATE runs SET status = 'failed', error = ?, ended_at = ?", *values)

    async def read() -> None:
        database = SqliteDatabase.open(path)
        row = await database.archive.run(RUN)
        assert (row.error_kind, row.fingerprint) == ("auth", fingerprint_of(error))
        [found] = await database.archive.runs(RunFilter(text="NOT known"))
        [group] = await database.statistics.failures(FailureFilter())
        assert (found.run, group.newest) == (RUN, RUN)
        await database.close()

    asyncio.run(read())


def put_failed(path, run):
    query(
        path,
        "INSERT INTO runs (run, log, program, digest, status, created_at, ended_at, depth) "
        "VALUES (?, ?, 'flow', 'digest', 'failed', 0, 1, 0)",
        run,
        run << 32,
    )


def test_very_many_runs_that_failed_long_ago_get_their_fingerprints(tmp_path, monkeypatch, caplog):
    path = of_the_first_version(tmp_path / "runs.db")
    monkeypatch.setattr("anew.stores.sqlite.backfill.MARKED_AT_ONCE", 2)
    for run in range(100, 105):
        put_failed(path, run)

    async def marked() -> int:
        database = SqliteDatabase.open(path)
        await database.store.commit(first(RunId(99)))  # nobody has to wait for it
        await database.maintain()
        [group] = await database.statistics.failures(FailureFilter())
        await database.close()
        return group.count

    assert asyncio.run(marked()) == 5
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "lists of failures are not whole" in caplog.text


def test_a_file_can_be_closed_before_all_old_failures_are_marked(tmp_path, monkeypatch):
    path = of_the_first_version(tmp_path / "runs.db")
    monkeypatch.setattr("anew.stores.sqlite.backfill.MARKED_AT_ONCE", 2)
    for run in range(100, 200):
        put_failed(path, run)
    for _ in range(2):
        closed(SqliteDatabase.open(path))
    some = query(path, "SELECT count(*) FROM runs WHERE fingerprint IS NOT NULL")[0][0]
    assert some >= 4


def test_runs_that_were_retried_before_it_was_kept_are_known(tmp_path):
    path = of_the_first_version(tmp_path / "runs.db")
    put_failed(path, 100)
    for value in (str(RUN), "100", "no run", "9" * 30):
        put_failed(path, 200 + len(value))
        query(path, "INSERT INTO labels VALUES ('retry_of', ?, ?)", value, 200 + len(value))

    async def read() -> dict[int, int | None]:
        database = SqliteDatabase.open(path)
        rows = await database.archive.runs(RunFilter())
        await database.close()
        return {row.run: row.retried_as for row in rows if row.retried_as is not None}

    assert asyncio.run(read()) == {RUN: 201, 100: 203}


def test_a_reader_brings_an_older_file_up_to_date_unless_someone_works_on_it(tmp_path):
    path = of_the_first_version(tmp_path / "runs.db")

    async def names() -> list[str]:
        async with open_database(str(path), read_only=True) as database:
            return [one.name for one in await database.catalog.programs()]

    with Ownership(path), pytest.raises(StoreError, match=r"schema 1.*Stop the older Anew"):
        asyncio.run(names())
    assert query(path, "SELECT number FROM migrations") == [(1,)]
    assert asyncio.run(names()) == ["flow"]


def test_migrations_are_numbered_without_gaps():
    known = migrations()
    assert [migration.number for migration in known] == list(range(1, len(known) + 1))


def test_a_reader_sees_what_the_owner_commits_and_cannot_write(tmp_path):
    async def use() -> None:
        owner = SqliteDatabase.open(tmp_path / "runs.db")
        await owner.store.commit(first())
        reader = SqliteDatabase.open_read_only(tmp_path / "runs.db")
        assert len(await reader.archive.events(RUN)) == 1
        await owner.store.commit(follows(1, paused(2)))
        assert len(await reader.archive.events(RUN)) == 2
        for asked in (
            reader.store.commit(follows(2, paused(3))),
            lease(reader),
            reader.archive.prune(ended_before=1),
            reader.vault.forget("x"),
        ):
            with pytest.raises(StoreError, match="open for reading only"):
                await asked
        await reader.close()
        await owner.close()

    asyncio.run(use())


def test_a_reader_needs_no_owner(tmp_path):
    path = made(tmp_path / "runs.db")

    async def read() -> None:
        reader = SqliteDatabase.open_read_only(path)
        assert len(await reader.archive.events(RUN)) == 1
        await reader.close()

    asyncio.run(read())


def test_a_reader_needs_a_file(tmp_path):
    with pytest.raises(StoreError, match=r"does not exist\. Start a run to create it"):
        SqliteDatabase.open_read_only(tmp_path / "runs.db")
    assert list(tmp_path.iterdir()) == []


def test_people_can_ask_for_events_by_their_place(tmp_path):
    path = tmp_path / "runs.db"

    async def write() -> None:
        database = SqliteDatabase.open(path)
        await database.store.commit(first())
        await database.store.commit(follows(1, processed(2)))
        await database.close()

    asyncio.run(write())
    columns = "seq, name, step, visit, iteration, task, attempt"
    assert query(path, f"SELECT {columns} FROM event_rows WHERE run = ?", RUN) == [
        (1, "run.requested", None, None, None, None, None),
        (2, "task.processed", "fetch", 1, 2, "call", 3),
    ]
    assert query(path, "SELECT version FROM run_rows") == [(2,)]


def test_a_run_is_full_when_its_next_event_would_be_the_next_runs(tmp_path):
    path, last = tmp_path / "runs.db", LOG_EVENTS_MAX

    async def write() -> None:
        database = SqliteDatabase.open(path)
        await database.store.commit(first())
        await database.store.commit(first(RunId(8)))
        full = (
            "INSERT INTO events SELECT log + ?, 0, 'run.paused', '{}', NULL FROM runs WHERE run = ?"
        )
        query(path, full, last - 1, RUN)
        await database.store.commit(follows(last - 1, paused(last)))
        with pytest.raises(StoreError, match=rf"run {RUN} has {last} events, .* at most {last} "):
            await database.store.commit(follows(last, paused(last + 1)))
        row, other = await database.archive.run(RUN), await database.archive.run(RunId(8))
        assert (row.version, other.version) == (last, 1)
        assert [event.seq for event in await database.archive.events(RUN, after=last - 2)] == [
            last - 1,
            last,
        ]
        assert len(await database.archive.events(RunId(8))) == 1
        await database.close()

    asyncio.run(write())


def test_a_pruned_run_leaves_no_row_and_its_neighbours_keep_theirs(tmp_path):
    path, large = tmp_path / "runs.db", "x" * 100_000
    head = RunHead(RunStatus.DONE, ended_at=NOW)
    tables = ("runs", "labels", "events", "blobs", "snapshots", "jobs")
    counts = f"SELECT {', '.join(f'(SELECT count(*) FROM {table})' for table in tables)}"

    async def write() -> None:
        database = SqliteDatabase.open(path)
        for run in (RunId(1), RunId(2), RunId(3)):
            await database.store.commit(first(run, [job()], labels={"team": "x"}))
            more = {"snapshot": RunState(version=2), "head": head if run == 2 else RUNNING}
            await database.store.commit(follows(1, processed(2, large), run=run, **more))
        assert query(path, counts) == [(3, 3, 6, 3, 3, 3)]
        assert await database.archive.prune(ended_before=NOW + 1) == 1
        assert query(path, counts) == [(2, 2, 4, 2, 2, 2)]
        assert [len(await database.archive.events(RunId(run))) for run in (1, 2, 3)] == [2, 0, 2]
        await database.close()

    asyncio.run(write())


def test_the_usual_commit_writes_a_page_of_events_and_one_of_jobs(tmp_path):
    """In the mean a little more, because a page is full now and then."""
    usual, pages = 300, []

    def note(_connection: apsw.Connection, _name: str, count: int) -> int:
        pages.append(count)
        return apsw.SQLITE_OK

    def step(number: int) -> NewJob:
        return job(f"s{number}", taken_until=LATER, is_fresh=True)

    async def write() -> None:
        database = SqliteDatabase.open(tmp_path / "runs.db")
        await database.store.commit(first(jobs=[step(1)]))
        database._writer._connection.set_wal_hook(note)
        for seq in range(1, usual + 2):
            held = Lease(ref(f"s{seq}"), token=1, until=LATER)
            answer = follows(seq, processed(seq + 1), lease=held, jobs=[step(seq + 1)])
            await database.store.commit(answer)
        await database.close()

    asyncio.run(write())
    written = [after - before for before, after in pairwise(pages)]
    assert (len(written), median(written)) == (usual, 2)
    assert sum(written) / usual < 2.5


def test_a_file_that_has_numbered_all_its_runs_says_so(tmp_path):
    path = made(tmp_path / "runs.db")
    query(path, "UPDATE runs SET log = ?", (FILE_RUNS_MAX - 1) * LOG_IDS)

    async def write() -> None:
        database = SqliteDatabase.open(path)
        await database.store.commit(first(RunId(8)))
        await database.store.commit(follows(1, paused(2), run=RunId(8)))
        with pytest.raises(StoreError, match=r"runs\.db has had 2147483646 runs and holds no more"):
            await database.store.commit(first(RunId(9)))
        assert len(await database.archive.events(RunId(8))) == 2
        assert (await database.archive.run(RunId(8))).version == 2
        await database.close()

    asyncio.run(write())


def test_the_same_large_value_is_kept_once_per_run(tmp_path):
    path, large = tmp_path / "runs.db", "x" * 100_000

    async def write() -> None:
        database = SqliteDatabase.open(path)
        for run in (RunId(1), RunId(2)):
            await database.store.commit(first(run))
            await database.store.commit(
                follows(1, processed(2, large), processed(3, large), run=run)
            )
            await database.store.commit(follows(3, processed(4, large), run=run))
        await database.close()

    asyncio.run(write())
    assert query(path, "SELECT run, length(data) FROM blobs ORDER BY run") == [
        (1, 100_002),
        (2, 100_002),
    ]
    query(path, "DELETE FROM blobs WHERE run = 1; UPDATE blobs SET data = x'31'")

    async def read() -> None:
        database = SqliteDatabase.open(path)
        with pytest.raises(StoreError, match=r"run 1 is damaged at event 2: .* is missing"):
            await database.store.load(RunId(1))
        with pytest.raises(StoreError, match=r"run 2 is damaged at event 2: .* is damaged"):
            await database.store.load(RunId(2))
        await database.close()

    asyncio.run(read())


def test_a_snapshot_of_another_version_costs_a_fold_only(tmp_path):
    path = tmp_path / "runs.db"

    async def write() -> None:
        database = SqliteDatabase.open(path)
        await database.store.commit(first())
        await database.store.commit(follows(1, paused(2), snapshot=RunState(version=2)))
        await database.close()

    asyncio.run(write())
    query(path, "UPDATE snapshots SET format = 'old', data = x'00'")

    async def read() -> None:
        database = SqliteDatabase.open(path)
        stored = await database.store.load(RUN)
        assert stored.snapshot is None
        assert len(stored.events) == 2
        await database.close()

    asyncio.run(read())


def test_who_waits_for_the_lock_lets_a_thread_of_this_process_end_its_work(tmp_path):
    path = made(tmp_path / "runs.db")
    other, connection = apsw.Connection(str(path)), apsw.Connection(str(path))
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    other.execute("BEGIN IMMEDIATE")
    waits = Event()

    def write() -> None:
        waits.wait()
        other.execute("COMMIT")

    thread = Thread(target=write)
    thread.start()
    # Called as SQLite is asked for the lock, with no other thread in between.
    connection.set_exec_trace(lambda *_: waits.set() or True)
    with transaction(connection):
        assert connection.in_transaction
    thread.join()
    connection.close()
    other.close()
