"""What a task needs that is not installed is named where it matters, with the command to add it."""

from __future__ import annotations

import sys

import pytest

from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

FLOW = """\
workflow:
  - step: start
    tool:
      - count: {kind: duckdb, command: SELECT 1 AS one}
"""
REMEDY = "pip install 'anew[duckdb]'"


@pytest.fixture(params=["duckdb", "pytz"])
def _missing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, request.param, None)


@pytest.mark.usefixtures("_missing")
def test_check_warns_of_each_task_with_its_line(desk: Desk) -> None:
    told = desk.call("check", desk.write("flow.yaml", FLOW))
    assert told.status == 0
    assert "flow.yaml:4:9: warning tool.extra: kind duckdb needs the extra 'duckdb'" in told.out
    assert f"help: Install it: {REMEDY}" in told.out


@pytest.mark.usefixtures("_missing")
def test_run_does_not_start(desk: Desk) -> None:
    told = desk.call("run", desk.write("flow.yaml", FLOW))
    assert told.status == 2
    assert "flow.yaml:4:9: error tool.extra: kind duckdb needs the extra 'duckdb'" in told.err
    assert REMEDY in told.err
    assert [path.name for path in desk.folder.iterdir()] == ["flow.yaml"]


@pytest.mark.usefixtures("_missing")
def test_simulate_needs_no_tool(desk: Desk) -> None:
    assert desk.call("simulate", desk.write("flow.yaml", FLOW)).status == 0


@pytest.mark.usefixtures("_missing")
def test_doctor_says_how_to_add_it_and_is_well(desk: Desk) -> None:
    told = desk.call("doctor")
    assert f"tool duckdb  not installed; `{REMEDY}` adds it" in told.out
    assert told.status == 0


def test_what_is_installed_is_not_named(desk: Desk) -> None:
    file = desk.write("flow.yaml", FLOW)
    assert "tool.extra" not in desk.call("check", file).out
    assert desk.call("run", file).status == 0
