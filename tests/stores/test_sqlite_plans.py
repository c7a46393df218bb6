"""Leasing and listing look at what they return, however much else there is.

The plans are the assertion: SEARCH uses an index, SCAN would read everything.
"""

from __future__ import annotations

import asyncio

import apsw
import pytest

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.store import RunFilter, RunId
from anew.stores.contract.making import LATER, NOW, lease
from anew.stores.sqlite import SqliteDatabase, archive, backfill, commits, leasing, statistics
from anew.stores.sqlite.session import SQLITE

PARKED = 100_000
PARK = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO jobs (is_leased, run, step, visit, iteration, pool, due_at, reason, attempt, token)
SELECT 0, i / 10, 'wait', 1, i % 10, 'default', ?, 'retry', 1, 1 FROM n
"""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A file in which very many jobs wait, and a few are due."""
    path = tmp_path_factory.mktemp("crowded") / "runs.db"
    asyncio.run(SqliteDatabase.open(path).close())
    connection = apsw.Connection(str(path))
    connection.execute(PARK, (PARKED, LATER))
    connection.execute("UPDATE jobs SET due_at = run WHERE run IN (5, 6, 7000)")
    connection.close()
    return path


def plan(path, statement, values):
    connection = apsw.Connection(str(path))
    rows = connection.execute(
        f"EXPLAIN QUERY PLAN {SQLITE.translate(statement)}", values
    ).fetchall()
    connection.close()
    return [row[3] for row in rows]


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (leasing.DUE, ("default", NOW, 10), "INDEX jobs_due (pool=? AND due_at>? AND due_at<?)"),
        (
            leasing.DUE_OF_RUN,
            (5, "default", NOW, 10),
            "INDEX jobs_due_of_run (run=? AND pool=? AND due_at>? AND due_at<?)",
        ),
        (leasing.NEXT, ("default",), "COVERING INDEX jobs_due (pool=? AND due_at>?)"),
        (
            leasing.NEXT_OF_RUN,
            (5, "default"),
            "COVERING INDEX jobs_due_of_run (run=? AND pool=? AND due_at>?)",
        ),
    ],
)
def test_leasing_reads_an_index_in_order(crowded, statement, values, index):
    assert plan(crowded, statement, values) == [f"SEARCH jobs USING {index}"]


def test_expired_leases_are_looked_for_among_the_leased(crowded):
    found = plan(crowded, leasing.EXPIRED, (NOW,))
    assert found[0] == "SEARCH jobs USING PRIMARY KEY (is_leased=?)"


@pytest.mark.parametrize(
    "asked",
    [
        RunFilter(),
        RunFilter(before=RunId(9)),
        RunFilter(statuses=[RunStatus.FAILED]),
        RunFilter(program="p"),
        RunFilter(parent=RunId(1)),
        RunFilter(retrying=True),
        RunFilter(labels={"team": "x"}),
        RunFilter(since=NOW),
        RunFilter(runs=[RunId(5)]),
        RunFilter(states=[DetailedStatus.DEAD]),
        RunFilter(states=[DetailedStatus.FAILED]),
        RunFilter(attempt_min=2),
        RunFilter(due_before=NOW),
        RunFilter(error_kind="auth"),
        RunFilter(fingerprint="abc"),
        RunFilter(is_retried=True),
        RunFilter(is_delayed=True),
    ],
    ids=str,
)
def test_lists_of_runs_sort_nothing_they_do_not_return(crowded, asked):
    found = plan(crowded, *archive.page_query(SQLITE, asked))
    first = found[0]
    assert first == "SCAN runs" if asked == RunFilter() else first.startswith("SEARCH runs USING")
    assert not any("SCAN jobs" in line and "USING" not in line for line in found)
    assert not any("SCAN labels" in line or "SCAN events" in line for line in found)


def test_what_a_list_shows_is_looked_up_for_the_runs_on_it(crowded):
    found = plan(crowded, *archive.runs_query(SQLITE, RunFilter()))
    assert found[0] == NO_RUN_BUT_ONE
    shown = [line for line in found if line.startswith("SEARCH jobs")]
    assert shown == ["SEARCH jobs USING PRIMARY KEY (is_leased=? AND run=?)"]


def test_what_failed_before_fingerprints_is_found_without_a_look_at_the_rest(crowded):
    found = plan(crowded, backfill.UNMARKED, (1,))
    assert found == ["SCAN runs USING INDEX runs_unmarked"]


def test_groups_of_failures_are_made_from_an_index(crowded):
    statement = statistics.GROUPS.format(condition="fingerprint IS NOT NULL", left="NOT is_retried")
    found = plan(crowded, statement, (10,))
    assert any("COVERING INDEX runs_fingerprint" in line for line in found)
    assert any("INDEX runs_retry_of" in line for line in found)


NO_RUN_BUT_ONE = "SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)"
NO_EVENTS_BUT_ITS = "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        (archive.EVENTS, (3, 5, 10)),
        (archive.REMOVE_EVENTS, (5,)),
        ("SELECT * FROM event_rows WHERE run = ?", (5,)),
        ("SELECT version, updated_at FROM run_rows WHERE run = ?", (5,)),
    ],
)
def test_no_event_of_another_run_is_looked_at(crowded, statement, values):
    found = plan(crowded, statement, values)
    assert NO_RUN_BUT_ONE in found
    assert NO_EVENTS_BUT_ITS in found
    assert not any("SCAN events" in line or "SCAN runs" in line for line in found)
    assert not any("TEMP" in line for line in found)


def test_a_version_is_checked_by_the_keys_of_two_events(crowded):
    found = plan(crowded, commits.HEAD, (5, 3))
    point = "SEARCH events USING INTEGER PRIMARY KEY (rowid=?)"
    assert [line for line in found if "events" in line] == [point, point]


def test_old_runs_are_found_by_when_they_ended(crowded):
    found = plan(crowded, archive.OLD_RUNS, (NOW, 10))
    assert found[0] == "SEARCH old USING INDEX runs_ended (ended_at<?)"
    assert not any("SCAN" in line or "TEMP" in line for line in found)


def test_what_is_due_is_found_among_all_that_waits(crowded):
    async def take() -> None:
        database = SqliteDatabase.open(crowded)
        batch = await lease(database, runs=[RunId(6)])
        assert [held.job.run for held in batch.leases] == [6] * 10
        batch = await lease(database, limit=15)
        assert [held.job.run for held in batch.leases] == [5] * 10 + [7000] * 5
        assert batch.next_due == 7000
        batch = await lease(database)
        assert (len(batch.leases), batch.next_due) == (5, LATER)
        assert len(await database.store.expired(LATER + 1)) == 30
        await database.close()

    asyncio.run(take())
