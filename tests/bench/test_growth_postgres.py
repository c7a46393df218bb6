"""On PostgreSQL, copies lie where real runs do, and the CPU time of the database counts."""

from __future__ import annotations

import asyncio
from time import process_time
from urllib.parse import urlencode

import pytest

from bench.cluster import cpu
from bench.cluster.postgres import execute
from bench.growth import point
from bench.growth.engine import Site
from bench.growth.filling import main as fill
from tests.postgres_server import Database, a_database  # noqa: F401

COPIES = """
SELECT count(*), count(DISTINCT tableoid), count(DISTINCT run) FROM anew.events
WHERE run IN (SELECT run FROM anew.runs WHERE version = (SELECT min(version) FROM anew.runs))
"""


def url_of(database: Database) -> str:
    return f"postgresql:///?{urlencode(database.auth)}"


def test_finished_runs_are_copied_into_the_range_of_the_week(database: Database) -> None:
    fill(["finished", "20", url_of(database)])
    [(events, tables, runs)] = execute(url_of(database), COPIES)
    assert (tables, runs) == (1, 21)
    assert events % runs == 0


def test_work_goes_on_beside_jobs_that_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(point, "SHORT_RUNS", 5)
    fill(["waiting", "250", url_of(database)])
    asyncio.run(point.beside(250, Site(url_of(database))))
    assert execute(url_of(database), "SELECT count(*) FROM anew.jobs") == [(250,)]


@pytest.mark.skipif(not cpu.is_told(), reason="this system has no /proc")
def test_the_cpu_time_of_the_database_is_counted(database: Database) -> None:
    used = Site(url_of(database)).cpu_seconds()
    assert used > process_time()
