"""Parts of the benchmarks can be asked for by name, and the table shows what came of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.__main__ import main, table
from bench.durable import ours
from bench.durable.documents import RUN_STEPS
from bench.results import KEYS, complete
from bench.selection import ALONE, NAMES, UnknownPart, selected


def test_everything_is_measured_unless_parts_are_named() -> None:
    chosen = selected([])
    assert tuple(chosen) == NAMES
    assert "steps" in chosen["durable"]
    assert "waiting" in chosen["cluster"]


def test_a_part_of_a_contest_can_be_named() -> None:
    assert selected(["cluster.runs", "durable.steps"]) == {
        "durable": ["steps"],
        "cluster": ["runs"],
    }


def test_a_whole_contest_can_be_named() -> None:
    assert selected(["durable"]).keys() == {"durable"}
    assert selected(["durable", "durable.steps"]) == selected(["durable"])


@pytest.mark.parametrize("name", ALONE)
def test_the_others_have_no_parts(name: str) -> None:
    assert selected([name]) == {name: []}


def test_an_unknown_part_is_said_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownPart, match=r"durable\.nothing.*durable\.steps"):
        selected(["durable.nothing"])
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "there is no benchmark 'nothing'" in capsys.readouterr().err


def test_a_row_has_every_key_in_its_order() -> None:
    row = complete({"probe_ms": 30.0, "value": 1, "name": "steps", "spread": None})
    assert tuple(row) == (*KEYS, "probe_ms")


def test_the_table_ends_with_how_many_targets_are_met() -> None:
    rows = [complete({"name": str(met), "met": met}) for met in (True, False, None)]
    assert list(table(rows))[-1] == "1 of 2 targets are met"


@pytest.mark.parametrize("workload", [one for one in ours.WORKLOADS if one != "backoff"])
def test_our_side_does_what_is_measured(workload: str, tmp_path: Path) -> None:
    sample = asyncio.run(ours.WORKLOADS[workload](RUN_STEPS, tmp_path))
    if workload == "latency":
        assert len(sample["taken_ms"]) == RUN_STEPS
    else:
        assert sample["seconds"] > 0
    if workload == "retries":
        assert sample["attempts_in_log"] is True
