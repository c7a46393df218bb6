"""The page of the benchmarks follows the figures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bench.figures import Figure, Workload
from bench.report import __main__ as command
from bench.report.notes import FILE, Notes
from bench.report.page import page
from bench.results import Results, read, written

CURVE = {
    "name": "run length",
    "x_label": "steps",
    "x": [10, 1_000],
    "y": [100.0, 105.0],
    "unit": "µs",
    "note": "flat",
    "ratio": 1.05,
    "probe_ms": 30.0,
}


def small_results() -> Results:
    figures = {
        "anew": Figure("Anew", [100.0, 90.0, 110.0], 1_000, 30.1),
        "dbos": Figure("DBOS 3.3.0", [25.0, 24.0, 26.0], 400, 30.2),
        "noetl": Figure("NoETL 5.3.2", [], 3, reason="keeps nothing"),
    }
    work = Workload("durable.steps", "one run of 1,000 steps", "steps/s", figures)
    results = Results(3)
    results.add(work.alone().beside("dbos", "≥ 5").beside("noetl", "≥ 2"))
    results.add([{"name": "anew --help", "value": 20.0, "unit": "ms", "target": 8, "met": True}])
    return results


def written_page(tmp_path: Path, growth: list[dict[str, object]]) -> str:
    written(small_results(), tmp_path / "results.json")
    if growth:
        (tmp_path / "growth.json").write_text(json.dumps(growth), encoding="utf-8")
    docs = tmp_path / "docs"
    docs.mkdir(exist_ok=True)
    assert command.main(tmp_path / "results.json", tmp_path / "growth.json", docs) == 0
    return (docs / "benchmarks.md").read_text(encoding="utf-8")


def test_results_can_be_read_again(tmp_path: Path) -> None:
    results = small_results()
    written(results, tmp_path / "results.json")
    assert read(tmp_path / "results.json") == results


def test_the_page_tells_each_target_and_its_verdict(tmp_path: Path) -> None:
    lines = written_page(tmp_path, []).splitlines()
    assert "0 of 2 are met." in lines
    beside = "| one run of 1,000 steps, compared with DBOS 3.3.0 | 100 steps/s [90 to 110] | 4 | ratio ≥ 5 | **no** |"
    assert [line for line in lines if line.startswith(beside)]
    assert [line for line in lines if "compared with NoETL" in line and "not decided" in line]


def test_the_page_tells_what_a_peer_cannot_do(tmp_path: Path) -> None:
    assert "| NoETL 5.3.2 | one run of 1,000 steps | keeps nothing |" in written_page(tmp_path, [])


def test_every_picture_on_the_page_is_there(tmp_path: Path) -> None:
    text = written_page(tmp_path, [CURVE])
    names = re.findall(r"\]\((benchmarks/[^)]+)\)", text)
    assert names == ["benchmarks/durable-steps.svg", "benchmarks/growth-run-length.svg"]
    assert all((tmp_path / "docs" / name).exists() for name in names)


def test_a_picture_that_is_no_longer_made_goes_away(tmp_path: Path) -> None:
    written_page(tmp_path, [])
    old = tmp_path / "docs/benchmarks/old.svg"
    old.write_text("<svg/>", encoding="utf-8")
    written_page(tmp_path, [])
    assert not old.exists()


def test_the_next_page_is_linked_once_it_is_written(tmp_path: Path) -> None:
    assert "past-one-machine.md" not in written_page(tmp_path, [])
    (tmp_path / "docs/past-one-machine.md").write_text("# Past one machine\n", encoding="utf-8")
    assert "(past-one-machine.md)" in written_page(tmp_path, [])


def test_without_figures_the_command_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(tmp_path / "no.json", tmp_path / "no.json", tmp_path) == 2
    assert "make bench" in capsys.readouterr().err


def test_a_note_stands_where_its_name_says() -> None:
    notes = Notes.parse(
        "# Notes\n\nabout\n\n## durable.steps\n\nEach step is one commit.\n\n"
        "## missed: durable.steps\n\nThe disk.\n\n## where the time goes\n\nTo the disk.\n"
    )
    text = page(small_results(), [CURVE], notes=notes, drawn=set(), has_next=False)
    assert "## Where the time goes\n\nTo the disk." in text
    assert "### Missed: one run of 1,000 steps\n\nThe disk." in text
    assert text.index("Each step is one commit.") > text.index("### One run of 1,000 steps")


def test_sections_nobody_wrote_are_left_out() -> None:
    text = page(small_results(), [], notes=Notes({}), drawn=set(), has_next=False)
    assert "Where the time goes" not in text
    assert "Missed targets" not in text
    assert "## Growth" not in text


def test_every_note_is_about_something_that_is_measured() -> None:
    from bench.cluster.parts import PARTS as CLUSTER
    from bench.durable.parts import PARTS as DURABLE

    parts = {f"durable.{one}" for one in DURABLE} | {f"cluster.{one}" for one in CLUSTER}
    for name in Notes.read(FILE).sections:
        about = name.removeprefix("missed: ")
        is_known = name == "where the time goes" or name.startswith("growth: ")
        assert is_known or about.partition("-")[0] in parts, name
