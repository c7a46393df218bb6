"""`--words nodes`: the words of graphs, wherever rows are printed."""

from __future__ import annotations

import json

import pytest

from anew.surfaces.cli import events as command
from anew.views.nodes import nodes
from tests.views.graphs import ASK, RACE, RACED, drawn


@pytest.fixture
def run(shelf):
    simulation = drawn(RACE, outcomes=RACED)
    shelf.put(simulation)
    return simulation


def types(rows) -> list[tuple[str, str | None, int]]:
    return [(row["type"], row["node_id"], row["seq"]) for row in rows]


def test_json_rows_have_the_names_of_graphs(run, anew) -> None:
    rows = [json.loads(line) for line in anew("events", "last", "--words", "nodes", "--json").lines]
    assert types(rows) == types(nodes(run.log))


def test_text_rows_say_where_and_what(run, anew) -> None:
    lines = anew("events", "last", "--words", "nodes").lines
    (join,) = [line for line in lines if "parallel.join" in line]
    assert join.split()[2:4] == ["j", "parallel.join"]
    assert 'status="SUCCESS"' in join


def test_a_piece_of_the_log_is_told_as_the_whole_tells_it(run, anew, monkeypatch) -> None:
    monkeypatch.setattr(command, "PAGE_EVENTS", 4)
    said = anew("events", "last", "--words", "nodes", "--json", "--after", "30").lines
    rows = [json.loads(line) for line in said]
    whole = [row for row in nodes(run.log) if row["seq"] > 30]
    assert types(rows) == types(whole)
    numbers = [row["data"].get("number") for row in rows]
    assert numbers == [row["data"].get("number") for row in whole]


def test_a_simulation_speaks_them_too(anew, tmp_path) -> None:
    (tmp_path / "ask.dot").write_text(ASK % "")
    result = anew("simulate", str(tmp_path / "ask.dot"), "--words", "nodes")
    assert result.status == 3
    assert "human.waiting" in result.lines[-2]
    assert result.lines[-1] == "waiting after 0.000 virtual seconds"
