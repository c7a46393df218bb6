"""A worker that is lost is named to whoever asks for a run, with the moment others get its work."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.runtime.heartbeat import _Heart
from anew.runtime.lost_workers import SILENCE_SECONDS, lost_among, lost_workers
from anew.runtime.records import record_of, report_of_record
from anew.store import HeldJob, JobRow, WaitReason
from anew.stores.contract.making import NOW, ref
from anew.stores.contract.roster import presence
from anew.surfaces.cli.show import show_lines
from anew.views.explain.explaining import explanation
from tests.runtime.test_control import ONE, _gate_is_a_kind, in_a_world  # noqa: F401

LEASE = 30 * NANOSECONDS
SILENT = NOW + int((SILENCE_SECONDS + 1) * NANOSECONDS)


def held(step: str = "a", *, token: int = 1, until: int = NOW + LEASE) -> JobRow:
    return JobRow(ref(step), WaitReason.READY, 0, 1, "default", until, token)


def worker(name: str = "w", *steps: str, token: int = 1, **more: Any) -> Any:
    jobs = [HeldJob(ref(step), token) for step in steps or ("a",)]
    return presence(name, jobs=jobs, **more)


def test_a_worker_that_is_silent_is_named_with_the_moment_others_get_its_work() -> None:
    (found,) = lost_among([held()], [worker()], SILENT)
    assert (found.worker, found.host, found.process, found.seen_at) == ("w", "example", 7, NOW)
    assert found.handed_out_at == NOW + LEASE + LEASE // 3
    assert found.sentence(SILENT) == (
        "Worker w (host example, process 7) has not reported for 16 s; "
        "a is queued again in 24 s at the earliest."
    )


def test_a_worker_that_reports_is_not_missed() -> None:
    assert lost_among([held()], [worker(seen_at=SILENT)], SILENT) == []
    assert lost_among([held()], [worker()], NOW) == []


def test_a_lease_that_ran_out_is_told_though_nobody_knows_whose_it_was() -> None:
    late = NOW + LEASE + 1
    (found,) = lost_among([held()], [], late)
    assert (found.worker, found.seen_at) == (None, None)
    told = found.sentence(late + LEASE)
    assert told == (
        "A worker has not reported before its lease ran out; "
        "a is queued again as soon as another worker looks."
    )
    # One that is known by its lease is named, however lately it was seen.
    (named,) = lost_among([held()], [worker(seen_at=late)], late)
    assert named.worker == "w"


def test_what_another_has_by_now_is_not_told_of_the_one_that_had_it() -> None:
    assert lost_among([held(token=2)], [worker(token=1)], SILENT) == []


def test_each_worker_is_told_once_with_all_its_steps() -> None:
    jobs = [held(step) for step in "abcde"]
    workers = [worker("v", "a", "b", "c", "d"), worker("w", "e")]
    one, other = lost_among(jobs, workers, SILENT)
    assert (one.worker, other.worker) == ("v", "w")
    assert "; a, b, c and 1 more is queued again" in one.sentence(SILENT).replace(" and c", ", c")


def test_moments_are_told_where_there_is_a_clock() -> None:
    (found,) = lost_among([held()], [worker()], SILENT)
    told = found.sentence(SILENT, lambda at: f"+{(at - NOW) // NANOSECONDS} s")
    assert "(since +0 s)" in told
    assert "at the earliest (not before +40 s)" in told


def test_the_owner_of_a_file_is_never_waited_for() -> None:
    class Nobody:
        @property
        def roster(self) -> Any:
            raise AssertionError("nobody has a lease that ends")

    jobs = [held(until=LAST_MOMENT)]
    assert asyncio.run(lost_workers(Nobody(), jobs)) == []  # type: ignore[arg-type]


def test_a_process_says_which_jobs_it_has_and_who_asks_for_the_run_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(world: Any) -> None:
        run = await world.start(ONE)
        await world.entered()
        database = world.database
        said = _Heart(world.engine)._presence()
        (lease,) = world.engine.worker.leases()
        assert said.jobs == [HeldJob(lease.job, lease.token)]
        now = database.clock.now()
        silent = now - int((SILENCE_SECONDS + 5) * NANOSECONDS)
        await database.roster.beat(replace(said, seen_at=silent, host="far", process=42))
        record = await record_of(database, await database.archive.run(run), None)
        told = f"Worker {said.worker} (host far, process 42) has not reported for 20 s"
        lines = list(show_lines(record, now, columns=200, paint=lambda _, text: text))
        assert [line for line in lines if told in line and "only is queued again in" in line]
        paragraphs = explanation(record.log, None, now=now, jobs=record.jobs, lost=record.lost)
        assert any(told in sentence for one in paragraphs for sentence in one.sentences)
        (row,) = report_of_record(record, now=now)["lost_workers"]
        assert (row["worker"], row["process"], row["steps"]) == (said.worker, 42, ["only"])
        assert row["handed_out_at"] > row["seen_at"]
        world.gate.answers.put_nowait({})
        await world.ended(run)
        record = await record_of(database, await database.archive.run(run), None)
        assert "lost_workers" not in report_of_record(record, now=now)

    in_a_world(work, tmp_path, works_on_all=True, lease_seconds=30.0)
