"""What a task needs that is not installed is named where it matters, with the command to add it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from anew.program.extras import AGENT_BACKENDS, DUCKDB, POSTGRES
from tests.surfaces.cli.terminals import ROOT, Desk, a_desk  # noqa: F401

FLOW = """\
workflow:
  - step: start
    tool:
      - it: {task}
"""
DUCKDB_TASK = "{kind: duckdb, command: SELECT 1 AS one}"
COPY = (
    "{kind: transfer, source: {type: duckdb, query: SELECT 1}, target: {type: file, path: a.csv}}"
)
# The module that is missing, a task that needs it, what is named, and the extra.
CASES = {
    "duckdb": ("duckdb", DUCKDB_TASK, "kind duckdb needs", "duckdb"),
    "pytz": ("pytz", DUCKDB_TASK, "kind duckdb needs", "duckdb"),
    "psycopg": (
        "psycopg", "{kind: postgres, auth: shop, command: SELECT 1}", "kind postgres needs", "postgres",
    ),
    "side": ("duckdb", COPY, "source: duckdb of kind transfer needs", "duckdb"),
    "backend": (
        "openai", "{kind: agent, backend: openai, prompt: Hello}",
        "backend: openai of kind agent needs", "agents",
    ),
}  # fmt: skip


@pytest.fixture(params=CASES.values(), ids=CASES)
def missing(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, desk: Desk
) -> tuple[str, str]:
    """What is told of flow.yaml, and the command that helps."""
    module, task, needs, extra = request.param
    monkeypatch.setitem(sys.modules, module, None)
    desk.write("flow.yaml", FLOW.replace("{task}", task))
    return (
        f"{needs} the extra {extra!r}, which is not installed here",
        f"pip install 'anew[{extra}]'",
    )


def test_check_warns_of_each_task_with_its_line(desk: Desk, missing: tuple[str, str]) -> None:
    problem, command = missing
    told = desk.call("check", "flow.yaml")
    assert told.status == 0
    assert f"flow.yaml:4:9: warning tool.extra: {problem}" in told.out
    assert f"help: Install it: {command}" in told.out


def test_run_does_not_start(desk: Desk, missing: tuple[str, str]) -> None:
    problem, command = missing
    told = desk.call("run", "flow.yaml")
    assert told.status == 2
    assert f"flow.yaml:4:9: error tool.extra: {problem}" in told.err
    assert command in told.err
    assert [path.name for path in desk.folder.iterdir()] == ["flow.yaml"]


def test_doctor_says_how_to_add_it_and_is_well(desk: Desk, missing: tuple[str, str]) -> None:
    told = desk.call("doctor")
    assert f"`{missing[1]}`" in told.out
    assert told.status == 0


def test_simulate_needs_no_tool(desk: Desk, missing: tuple[str, str]) -> None:
    assert desk.call("simulate", "flow.yaml").status == 0


def test_what_is_installed_is_not_named(desk: Desk) -> None:
    file = desk.write("flow.yaml", FLOW.replace("{task}", DUCKDB_TASK))
    assert "tool.extra" not in desk.call("check", file).out
    assert desk.call("run", file).status == 0
    assert "pip install" not in desk.call("doctor").out


@pytest.mark.parametrize("words", [("runs",), ("serve", "--port", "0"), ("worker",)])
def test_a_postgresql_database_without_its_library_is_refused_with_the_command(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    told = desk.call(*words, "--db", "postgresql://nobody@127.0.0.1:1/none")
    assert told.status == 2
    assert told.is_one_clear_line()
    assert "needs the extra 'postgres', which is not installed here" in told.err
    assert "pip install 'anew[postgres]'" in told.err


def test_every_extra_that_is_named_can_be_installed() -> None:
    project = tomllib.loads(Path(ROOT / "pyproject.toml").read_text())["project"]
    offered = project["optional-dependencies"]
    named = {extra.name for extra in (POSTGRES, DUCKDB, *AGENT_BACKENDS.values())}
    assert set(offered) == {*named, "all", "dev"}
    assert offered["all"] == [f"anew[{','.join(sorted(named))}]"]
    page = (ROOT / "docs/how-to/install.md").read_text()
    assert [name for name in (*named, "all") if f"| `anew[{name}]` |" not in page] == []
