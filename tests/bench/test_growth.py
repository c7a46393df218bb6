"""Curves are whole, say honestly whether they are flat, and copy the rows they measure beside."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import apsw
import pytest

from anew.engine.state import RunStatus
from anew.store import RunFilter, RunId
from anew.stores.sqlite import SqliteDatabase
from bench.contest import Entry, Sample
from bench.growth import point
from bench.growth.__main__ import kept, main, table
from bench.growth.curves import CURVES, ROUNDS, Curve
from bench.growth.documents import MANNERS, records
from bench.growth.engine import FILE_NAME, Site
from bench.growth.filling import main as fill
from bench.growth.playing import POINT, Found, note, summary
from bench.growth.point import WORKLOADS, Cost, Meter

FEW = 40
CURVE = Curve("rows", "rows", "rows", "beside", (1, 10), 10, reason="the index grows")


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is played here is not measured."""
    for name in ("TRANSITIONS", "SHORT_RUNS", "LOADED_STEPS", "CARRYING_STEPS", "WRITING_STEPS"):
        monkeypatch.setattr(point, name, FEW)


def entry(size: int, *costs: float) -> Entry:
    samples: list[Sample] = [{"cpu_us": cost, "peak_mib": 50.0} for cost in costs]
    return Entry(POINT, "beside", size, samples=samples, probes_ms=[30.0] * len(costs))


def found(name: str) -> Found:
    return summary(Curve(name, name, "rows", "beside", (1, 10)), [entry(1, 2.0), entry(10, 2.0)])


def test_every_curve_has_a_workload_and_a_name_of_its_own() -> None:
    assert {curve.workload for curve in CURVES} <= set(WORKLOADS)
    assert len({curve.name for curve in CURVES}) == len(CURVES)


def test_large_points_are_measured_once() -> None:
    assert [CURVE.rounds_of(size) for size in CURVE.sizes] == [ROUNDS, 1]


def test_a_point_is_the_median_of_its_rounds() -> None:
    one = summary(CURVE, [entry(1, 100, 300, 110), entry(10, 120)])
    assert (one["x"], one["y"], one["ratio"]) == ([1, 10], [110, 120], 1.09)
    assert (one["spread"], one["rounds"]) == ([[100, 300], [120, 120]], [3, 1])
    assert one["probe_ms"] == 30.0


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([100, 129], "flat"),
        ([100, 131], "the index grows"),
        ([100, 131, 100], "the index grows"),
        ([100, 50], "no growth"),
        ([100, 50, 131], "the index grows"),
    ],
)
def test_a_note_says_flat_or_the_reason(costs: list[float], said: str) -> None:
    assert note(CURVE, costs).startswith(said)


def test_growth_without_a_known_reason_is_admitted() -> None:
    assert "not known" in note(CURVES[0], [100, 200])


def test_a_meter_counts_what_lies_between_two_commits_of_each_run() -> None:
    meter = Meter(1, 3)
    for run in (1, 1, 2, 1, 2, 2, 2):
        meter.hear(RunId(run), [])
    assert meter.cost().transitions == 4


def test_a_run_that_ended_too_early_is_no_figure() -> None:
    meter = Meter(1, 3)
    meter.hear(RunId(1), [])
    with pytest.raises(AssertionError):
        meter.cost()


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_records_have_the_bytes_they_are_asked_for(size: int) -> None:
    assert 0.8 * size < len(json.dumps(records(size), separators=(",", ":"))) < 1.2 * size


@pytest.mark.parametrize("workload", ["chained", "circling", "program", "loaded", *MANNERS])
def test_a_workload_of_steps_can_be_played(workload: str, tmp_path: Path) -> None:
    cost = asyncio.run(_cost(workload, 7, tmp_path))
    assert cost.seconds > 0
    assert FEW <= cost.transitions <= FEW + 7


@pytest.mark.parametrize("workload", ["parallel", "sequential", "beside", "at_once"])
def test_a_workload_of_items_and_runs_can_be_played(workload: str, tmp_path: Path) -> None:
    cost = asyncio.run(_cost(workload, 7, tmp_path))
    assert cost.seconds > 0
    assert cost.transitions >= FEW


async def _cost(workload: str, size: int, folder: Path) -> Cost:
    return await WORKLOADS[workload](size, Site(str(folder)))


def test_finished_runs_are_copies_that_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(["finished", "20", str(tmp_path)])
    assert json.loads(capsys.readouterr().out) == {"rows": 20}
    newest, oldest = asyncio.run(_newest_and_oldest(tmp_path))
    assert newest == oldest != []


async def _newest_and_oldest(folder: Path) -> tuple[list[str], list[str]]:
    """The names of the events of the run that was played, and of the first copy."""
    database = SqliteDatabase.open_read_only(folder / FILE_NAME)
    try:
        rows = await database.archive.runs(RunFilter(statuses=[RunStatus.DONE], limit=100))
        rows = [row for row in rows if row.version == rows[0].version]
        assert len(rows) == 21
        logs = [await database.archive.events(rows[n].run) for n in (0, -1)]
        return [event.name for event in logs[0]], [event.name for event in logs[1]]
    finally:
        await database.close()


def test_waiting_jobs_wait_and_work_goes_on_beside_them(tmp_path: Path) -> None:
    fill(["waiting", "250", str(tmp_path)])
    asyncio.run(_cost("beside", 250, tmp_path))
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    assert connection.execute("SELECT count(*), count(DISTINCT run) FROM jobs").get == (250, 3)
    connection.close()


def test_curves_that_were_not_asked_for_stay_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "bench" / "growth.json"
    for name in ("loop", "chain", "gone"):
        kept(found(name), file)
    kept(found("loop") | {"ratio": 7.0}, file)
    written = json.loads(file.read_text(encoding="utf-8"))
    assert [(one["name"], one["ratio"]) for one in written] == [("chain", 1.0), ("loop", 7.0)]


def test_the_table_has_a_line_for_each_point() -> None:
    lines = [line for line in table([found("chain")]) if line]
    assert len(lines) == 3
    assert "flat" in lines[0]


def test_a_curve_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["chian"])
    assert "there is no curve 'chian'; there are chain," in capsys.readouterr().err
