"""Opening a PostgreSQL database, writing to it in groups, and what its errors say."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from msgspec.structs import replace
from psycopg.conninfo import make_conninfo

from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.store import (
    Commit,
    JobRef,
    Lease,
    Park,
    RunFilter,
    RunHead,
    RunId,
    StaleLease,
    StaleVersion,
    StoreError,
    WaitReason,
)
from anew.stores.contract.making import (
    LATER,
    NOW,
    RUN,
    first,
    follows,
    job,
    lease,
    log_of,
    only_lease,
    paused,
    processed,
    ref,
    requested,
)
from anew.stores.postgres import PostgresDatabase, migrations
from anew.stores.postgres.settings import PostgresSettings, settings_in
from anew.stores.sql.migrations import Migration
from tests.postgres_server import (
    LOCKED_PASSWORD,
    LOCKED_ROLE,
    Database,
    a_database,  # noqa: F401
    a_module_database,  # noqa: F401
    server,
)


async def opened(database: Database, **more) -> PostgresDatabase:
    return await PostgresDatabase.open(database.dsn, **{"notify": False, **more})


# Groups


def test_what_arrives_together_is_written_together(module_database: Database) -> None:
    module_database.empty()

    async def play() -> int:
        db = await opened(module_database)
        await asyncio.gather(*(db.store.commit(first(RunId(run))) for run in range(1, 201)))
        assert len(await db.archive.runs(RunFilter(limit=1000))) == 200
        await db.close()
        return db.transactions

    # One each while the connection is being made, and the others after that.
    assert asyncio.run(play()) <= 8


def test_what_is_large_is_not_all_sent_at_once(
    module_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    module_database.empty()
    monkeypatch.setattr("anew.stores.postgres.writer.GROUP_BYTES_MAX", 100_000)

    async def play() -> None:
        db = await opened(module_database)
        runs = [RunId(run) for run in range(2, 22, 2)]
        await asyncio.gather(*(db.store.commit(first(run)) for run in runs))
        done = db.transactions
        asked = [follows(1, processed(2, "x" * 40_000), run=run) for run in runs]
        await asyncio.gather(*(db.store.commit(one) for one in asked))
        assert db.transactions == done + 5
        await db.close()

    asyncio.run(play())


def test_settings_in_the_url_count(module_database: Database) -> None:
    dsn = make_conninfo(
        module_database.dsn, application_name="mine", options="-c statement_timeout=7s"
    )

    async def shown(connection: psycopg.AsyncConnection) -> list[str]:
        names = ("application_name", "statement_timeout", "lock_timeout", "tcp_keepalives_count")
        cursors = [await connection.execute(f"SHOW {name}") for name in names]
        return [(await cursor.fetchone())[0] for cursor in cursors]

    async def play() -> None:
        db = await PostgresDatabase.open(dsn, notify=False)
        assert (await db._links.run(shown))[:3] == ["mine", "7s", "10s"]
        await db.close()

    asyncio.run(play())


def test_a_refusal_in_the_middle_of_a_group_does_not_disturb_it(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        runs = [RunId(run) for run in range(2, 22, 2)]
        await asyncio.gather(*(db.store.commit(first(run, [job()])) for run in runs))
        held = {one.job.run: one for one in (await lease(db)).leases}
        await db.store.release(held[RunId(8)], due_at=NOW)
        done = db.transactions
        asked = [follows(1, paused(2), run=run, lease=held[run]) for run in runs]
        asked[5] = follows(7, paused(8), run=runs[5])
        answers = await asyncio.gather(
            *(db.store.commit(one) for one in asked), return_exceptions=True
        )
        assert db.transactions == done + 1
        kinds = [type(answer) for answer in answers]
        none = type(None)
        assert kinds == [none] * 3 + [StaleLease, none, StaleVersion] + [none] * 4
        rows = await db.archive.runs(RunFilter())
        assert [row.version for row in reversed(rows)] == [2, 2, 2, 1, 2, 1, 2, 2, 2, 2]
        await db.close()

    asyncio.run(play())


def test_a_failure_in_the_middle_of_a_group_is_that_of_one(module_database: Database) -> None:
    """Something that no function of ours foresees: a constraint that somebody added."""
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first(RunId(2)))
        module_database.execute("ALTER TABLE anew.runs ADD CONSTRAINT odd CHECK (run <> 8)")
        try:
            answers = await asyncio.gather(
                *(db.store.commit(first(RunId(run))) for run in range(4, 16, 2)),
                return_exceptions=True,
            )
        finally:
            module_database.execute("ALTER TABLE anew.runs DROP CONSTRAINT odd")
        assert [answer is None for answer in answers] == [True, True, False, True, True, True]
        assert isinstance(answers[2], StoreError)
        assert "odd" in str(answers[2])
        await db.close()

    asyncio.run(play())


def test_commits_of_one_run_keep_their_order_in_a_group(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first())
        commits = [follows(version, paused(version + 1)) for version in range(1, 40)]
        others = [first(RunId(run)) for run in range(100, 140)]
        mixed = [one for pair in zip(commits, others, strict=False) for one in pair]
        await asyncio.gather(*(db.store.commit(one) for one in mixed))
        assert len(await log_of(db)) == 40
        await db.close()

    asyncio.run(play())


def test_two_that_wait_for_each_other_both_get_through(module_database: Database) -> None:
    """Each holds its own run and wakes a job of the other's, in groups of opposite order."""
    module_database.empty()

    async def play() -> None:
        dbs = [await opened(module_database) for _ in range(2)]
        runs = [RunId(run) for run in range(1, 21)]
        await asyncio.gather(*(dbs[0].store.commit(first(run, [job(due_at=None)])) for run in runs))
        for version in range(1, 6):
            asked = []
            for place, run in enumerate(runs):
                wakes = [ref(run=other) for other in runs if other != run]
                commit = follows(version, paused(version + 1), run=run, wakes=wakes)
                asked.append(dbs[place % 2].store.commit(commit))
            await asyncio.gather(*asked)
        rows = await dbs[0].archive.runs(RunFilter())
        assert {row.version for row in rows} == {6}
        for db in dbs:
            await db.close()

    asyncio.run(play())


# Leases


def test_two_databases_never_get_the_same_job(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        dbs = [await opened(module_database) for _ in range(2)]
        jobs = [job("a", number) for number in range(100)]
        await asyncio.gather(*(dbs[0].store.commit(first(RunId(n), jobs)) for n in range(1, 11)))
        taken: list[object] = []

        async def work(db: PostgresDatabase) -> None:
            while True:
                batch = await lease(db, limit=7)
                taken.extend(held.job for held in batch.leases)
                if not batch.leases and batch.next_due is None:
                    return

        await asyncio.gather(*(work(db) for db in dbs for _ in range(4)))
        assert len(taken) == len(set(taken)) == 1000
        for db in dbs:
            await db.close()

    asyncio.run(play())


def test_one_locked_job_does_not_keep_the_others_from_being_extended(
    module_database: Database,
) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first(jobs=[job("a"), job("b"), job("c")]))
        leases = (await lease(db)).leases
        await db.store.release(leases[2], due_at=LATER)
        other = await psycopg.AsyncConnection.connect(module_database.dsn)
        # A commit whose client is gone, and of which the server does not know that yet.
        await other.execute("UPDATE anew.jobs SET is_woken = true WHERE step IN ('a', 'c')")
        held = await db.store.extend(leases, LATER + 5)
        assert [one.job.key.step for one in held] == ["a", "b"]
        rows = {row.job.key.step: row.leased_until for row in await db.archive.jobs(RUN)}
        assert rows == {"a": LATER, "b": LATER + 5, "c": None}
        await other.rollback()
        await other.close()
        assert await db.store.extend(leases, LATER + 5) == held
        rows = {row.job.key.step: row.leased_until for row in await db.archive.jobs(RUN)}
        assert rows == {"a": LATER + 5, "b": LATER + 5, "c": None}
        await db.close()

    asyncio.run(play())


def test_a_batch_tells_how_far_its_runs_have_come(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first(RunId(5), [job()]))
        await db.store.commit(first(RUN, [job()]))
        await db.store.commit(follows(1, paused(2)))
        assert (await lease(db)).versions == {5: 1, RUN: 2}
        await db.close()

    asyncio.run(play())


def test_jobs_that_others_are_taking_are_worth_a_later_look(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first(jobs=[job()]))
        other = await psycopg.AsyncConnection.connect(module_database.dsn)
        await other.execute("SELECT 1 FROM anew.jobs FOR UPDATE")
        batch = await lease(db)
        assert batch.leases == []
        assert batch.next_due is not None
        assert NOW < batch.next_due < LATER
        await other.close()
        await db.close()

    asyncio.run(play())


# Opening


def test_many_may_open_an_empty_database_at_once(database: Database) -> None:
    async def play() -> None:
        dbs = await asyncio.gather(*(opened(database) for _ in range(8)))
        await dbs[0].store.commit(first())
        for db in dbs:
            assert await log_of(db) == [requested()]
            await db.close()

    asyncio.run(play())
    applied = database.execute("SELECT number FROM anew.migrations ORDER BY number")
    assert [row[0] for row in applied] == [one.number for one in migrations.postgres_migrations()]


def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    asyncio.run(opened_and_closed(database))
    database.execute("INSERT INTO anew.migrations VALUES (99, '0099_later', 'x')")
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"has schema 99, and .* up to \d+\. Upgrade Anew"):
            asyncio.run(opened_and_closed(database, read_only=read_only))


def test_a_database_that_another_version_made_is_refused(database: Database) -> None:
    asyncio.run(opened_and_closed(database))
    database.execute("UPDATE anew.migrations SET checksum = 'x' WHERE number = 1")
    with pytest.raises(StoreError, match="made by another version of Anew"):
        asyncio.run(opened_and_closed(database))


def test_a_reader_changes_nothing(database: Database) -> None:
    with pytest.raises(StoreError, match="holds nothing of Anew yet"):
        asyncio.run(opened_and_closed(database, read_only=True))
    assert database.execute("SELECT to_regnamespace('anew')") == [(None,)]
    asyncio.run(opened_and_closed(database))

    async def play() -> None:
        db = await opened(database, read_only=True)
        assert await db.archive.runs(RunFilter()) == []
        with pytest.raises(StoreError, match="open for reading only"):
            await db.store.commit(first())
        await db.close()

    asyncio.run(play())


def failed(run: RunId) -> Commit:
    head = RunHead(
        RunStatus.FAILED, {"kind": "auth", "message": f"user {run} is \0 not known"}, NOW
    )
    return replace(first(run), head=head)


def test_runs_that_fail_in_a_group_are_told_from_the_others(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first(RunId(1)))
        commits = [failed(RunId(run)) if run % 3 else first(RunId(run)) for run in range(2, 30)]
        # One of the group is refused: its run is there.
        refused = replace(failed(RunId(1)), head=failed(RunId(1)).head)
        answers = await asyncio.gather(
            *(db.store.commit(one) for one in [*commits, refused]), return_exceptions=True
        )
        assert answers[-1] is None or isinstance(answers[-1], StaleVersion)
        rows = await db.archive.runs(RunFilter(error_kind="auth", limit=100))
        assert [row.run for row in rows] == [run for run in range(29, 1, -1) if run % 3]
        assert len({row.fingerprint for row in rows}) == 1
        await db.close()

    asyncio.run(play())


def test_a_database_of_the_last_unreleased_version_is_taken_over(database: Database) -> None:
    asyncio.run(opened_and_closed(database))
    known = migrations.postgres_migrations()
    newest = next(one for one in known if one.replaces)
    guards = "commit_guarded_v1", "change_guards_v1", "guards_match_v1"
    for later in (
        *("TABLE anew.artifacts", "FUNCTION anew.drop_artifacts_v1 CASCADE", "TABLE anew.guards"),
        *(f"FUNCTION anew.{name}" for name in guards),
    ):
        database.execute(f"DROP {later}")
    database.execute("ALTER TABLE anew.programs DROP COLUMN tools")
    database.execute("DELETE FROM anew.migrations")
    for number, checksum in enumerate(newest.replaces, 1):
        row = f"({number}, 'step', '{checksum}')"
        database.execute(f"INSERT INTO anew.migrations (number, name, checksum) VALUES {row}")
    asyncio.run(opened_and_closed(database))
    asyncio.run(opened_and_closed(database, read_only=True))
    recorded = database.execute("SELECT number, name, checksum FROM anew.migrations ORDER BY 1")
    assert recorded == [(one.number, one.name, one.checksum) for one in known]


def test_a_reader_of_an_older_schema_says_who_can_change_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(opened_and_closed(database))
    known = migrations.postgres_migrations()
    more = [*known, Migration(len(known) + 1, "more", "SELECT 1")]
    monkeypatch.setattr("anew.stores.postgres.database.postgres_migrations", lambda: more)
    told = rf"has schema {len(known)}, .* `anew serve` or `anew run`"
    with pytest.raises(StoreError, match=told):
        asyncio.run(opened_and_closed(database, read_only=True))


async def opened_and_closed(database: Database, **more) -> None:
    await (await opened(database, **more)).close()


# Errors


def test_a_wrong_password_is_told_at_once_and_never_repeated() -> None:
    where = server()
    if not where.is_ours:
        pytest.skip("only our own server has the locked role")
    dsn = make_conninfo(where.dsn, user=LOCKED_ROLE, password="se%cret-guess")
    error = refusal(dsn)
    assert "the user name or password is wrong" in error
    assert "postgres" in error
    assert "se%cret-guess" not in error


def test_a_missing_database_is_told_at_once() -> None:
    error = refusal(make_conninfo(server().dsn, dbname="nowhere"))
    assert "/nowhere: there is no such database" in error
    assert "createdb" in error


def test_a_user_without_rights_is_told_what_is_missing(database: Database) -> None:
    if not database.server.is_ours:
        pytest.skip("only our own server has the locked role")
    dsn = make_conninfo(database.dsn, user=LOCKED_ROLE, password=LOCKED_PASSWORD)
    assert "permission is denied" in refusal(dsn)


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anew.stores.postgres.database.OPEN_PATIENCE_SECONDS", 0.2)
    error = refusal("postgresql://me:hidden@127.0.0.1:1/runs")
    assert "PostgreSQL at 127.0.0.1:1/runs cannot be reached" in error
    assert "Check that it runs" in error
    assert "hidden" not in error


@pytest.mark.parametrize("password", ["hid%zz", "hid/den", "123/hid@den"])
def test_a_url_that_cannot_be_read_is_not_repeated(password: str) -> None:
    with pytest.raises(ConfigError) as caught:
        asyncio.run(PostgresDatabase.open(f"postgresql://me:{password}@host/runs"))
    assert "hid" not in str(caught.value)
    assert "%XX" in str(caught.value)


def test_a_server_that_only_reads_is_told_as_such(module_database: Database) -> None:
    module_database.empty()
    dsn = make_conninfo(module_database.dsn, dbname=module_database.name)

    async def play() -> None:
        db = await opened(module_database)
        module_database.server.execute(
            f"ALTER DATABASE {module_database.name} SET default_transaction_read_only = on"
        )
        try:
            other = await PostgresDatabase.open(dsn, notify=False)
            with pytest.raises(StoreError, match="it can only be read"):
                await other.store.commit(first())
            await other.close()
        finally:
            module_database.server.execute(
                f"ALTER DATABASE {module_database.name} RESET default_transaction_read_only"
            )
        await db.store.commit(first())
        assert await log_of(db) == [requested()]
        await db.close()

    asyncio.run(play())


FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON anew.events_rest FOR EACH ROW EXECUTE FUNCTION full_disk();
"""


def test_a_full_disk_is_told_as_such_and_costs_nothing(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first(jobs=[job()]))
        held = await only_lease(db)
        module_database.execute(FULL)
        commits = [follows(1, paused(2), lease=held), first(RunId(9)), first(RunId(11))]
        try:
            for answer in await asyncio.gather(
                *(db.store.commit(one) for one in commits), return_exceptions=True
            ):
                assert isinstance(answer, StoreError)
                assert "the disk is full (could not extend file). Free some space" in str(answer)
        finally:
            module_database.execute("DROP FUNCTION full_disk CASCADE")
        assert [row.run for row in await db.archive.runs(RunFilter())] == [RUN]
        await asyncio.gather(*(db.store.commit(one) for one in commits))
        assert await log_of(db) == [requested(), paused(2)]
        await db.close()

    asyncio.run(play())


def test_a_server_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anew.stores.postgres.connection.SERVER_VERSION_MIN", 99)
    assert "and Anew needs 99 or newer. Upgrade the server" in refusal(server().dsn)


@pytest.mark.parametrize("is_mixed", [False, True])
def test_values_that_cannot_be_sent_do_not_disturb_the_group(
    module_database: Database, is_mixed: bool
) -> None:
    """Nothing of ours lets such text in; a store must not be stuck because of it."""
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        await db.store.commit(first(RunId(2), [job()]))
        held = await only_lease(db)
        parks = follows(1, run=RunId(2), lease=held, park=Park(LATER, WaitReason.SLEEP))
        odd = ref("\ud800", run=RunId(6))
        answers = await asyncio.gather(
            *(db.store.commit(one) for one in (parks, first(RunId(4)))),
            db.store.wake(odd) if is_mixed else db.store.commit(odd_commit(held, odd)),
            return_exceptions=True,
        )
        assert answers[:2] == [None, None]
        assert isinstance(answers[2], UnicodeEncodeError)
        await db.close()

    def odd_commit(held: Lease, odd: JobRef) -> Commit:
        return follows(1, run=odd.run, lease=replace(held, job=odd))

    asyncio.run(play())


def test_commits_and_wake_ups_of_a_run_keep_their_order(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await opened(module_database)
        runs = [RunId(run) for run in range(2, 22, 2)]
        waits = job(due_at=None)
        await asyncio.gather(*(db.store.commit(first(run, [waits])) for run in runs))
        asked = []
        for run in runs:
            asked.append(db.store.commit(follows(1, paused(2), run=run)))
            asked.append(db.store.wake(ref(run=run)))
            asked.append(db.store.commit(follows(7, paused(8), run=run)))
            asked.append(db.store.commit(follows(2, processed(3, "x" * 70_000), run=run)))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        kinds = [type(answer) for answer in answers]
        assert kinds == [type(None), type(None), StaleVersion, type(None)] * len(runs)
        assert len((await lease(db)).leases) == len(runs)
        for run in runs:
            assert (await log_of(db, run))[2] == processed(3, "x" * 70_000)
        await db.close()

    asyncio.run(play())


def test_a_closed_database_says_so(module_database: Database) -> None:
    async def play() -> None:
        db = await opened(module_database)
        await db.close()
        await db.close()
        for asked in (db.store.commit(first()), db.store.load(RUN), db.vault.names()):
            with pytest.raises(StoreError, match="is closed"):
                await asked

    asyncio.run(play())


def refusal(dsn: str) -> str:
    with pytest.raises(StoreError) as caught:
        asyncio.run(PostgresDatabase.open(dsn))
    return str(caught.value)


# PostgresSettings


@pytest.mark.parametrize(
    ("said", "settings"),
    [
        ({}, PostgresSettings()),
        ({"ANEW_POSTGRES_POOLER": "transaction"}, PostgresSettings(is_pooled=True)),
        ({"ANEW_POSTGRES_POOLER": "session"}, PostgresSettings()),
        ({"ANEW_POSTGRES_CONNECTIONS": "9"}, PostgresSettings(connections=9)),
        ({"ANEW_POSTGRES_HASH_PARTITIONS": "8"}, PostgresSettings(hash_partitions=8)),
        ({"ANEW_SYNCHRONOUS": "full"}, PostgresSettings()),
        ({"ANEW_SYNCHRONOUS": "normal"}, PostgresSettings(is_durable=False)),
    ],
)
def test_settings_come_from_the_environment(said, settings) -> None:
    assert settings_in(said) == settings


@pytest.mark.parametrize(
    "said",
    [
        {"ANEW_POSTGRES_POOLER": "yes"},
        {"ANEW_POSTGRES_CONNECTIONS": "0"},
        {"ANEW_POSTGRES_CONNECTIONS": "many"},
        {"ANEW_POSTGRES_HASH_PARTITIONS": "65"},
        {"ANEW_SYNCHRONOUS": "off"},
    ],
)
def test_a_setting_that_cannot_be_used_is_named(said) -> None:
    with pytest.raises(ConfigError, match=next(iter(said))):
        settings_in(said)


def test_behind_a_pooler_nothing_is_prepared_and_nobody_listens(database: Database) -> None:
    async def play() -> None:
        db = await PostgresDatabase.open(database.dsn, settings=PostgresSettings(is_pooled=True))
        for version in range(12):
            commit = follows(version, paused(version + 1)) if version else first(jobs=[job()])
            await db.store.commit(commit)
            await db.archive.run(RUN)
        assert len((await lease(db)).leases) == 1
        rows = database.execute(
            "SELECT query FROM pg_stat_activity WHERE application_name = 'anew'"
        )
        assert rows
        assert not any("LISTEN" in str(row[0]) for row in rows)
        found = await db._links.run(prepared)
        assert found == 0
        await db.close()

    async def prepared(connection) -> int:
        row = await (
            await connection.execute("SELECT count(*) FROM pg_prepared_statements")
        ).fetchone()
        return row[0]

    asyncio.run(play())


# The clock


def test_moments_are_those_of_the_server(
    module_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = 3600 * 1_000_000_000
    question = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"

    async def play() -> tuple[int, int, int]:
        db = await opened(module_database)
        before = int(str(module_database.execute(question)[0][0]))
        now = db.clock.now()
        after = int(str(module_database.execute(question)[0][0]))
        await db.close()
        return before, now, after

    monkeypatch.setattr("anew.stores.postgres.clock._NOW", f"{question} + {ahead}")
    before, now, after = asyncio.run(play())
    # What a round trip may be off, and much less than the difference of the clocks.
    assert before + ahead - 10**9 < now < after + ahead + 10**9
