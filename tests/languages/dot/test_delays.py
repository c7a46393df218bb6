"""A table of delays, for all errors or for one kind, in place of a preset."""

from __future__ import annotations

import pytest

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.languages.translation.to_dot import program_to_dot
from anew.languages.translation.to_playbook import graph_to_playbook

SPEC = "digraph g { s [shape=Mdiamond] x [shape=Msquare] a [prompt=p %s] s -> a -> x }"
DOCS = "digraph g { s [shape=ellipse] x [shape=ellipse] a [goal=p %s] s -> a -> x }"
BUSY = {"status": "fail", "error": {"kind": "rate_limit", "retryable": True}}
DOWN = {"status": "fail", "error": {"kind": "server_error", "retryable": True}}


def delays(graph: str) -> list[float]:
    loaded = load_text(graph, "g.dot")
    assert loaded.program is not None, loaded.findings
    script = script_of({"outcomes": {"a": [DOWN, BUSY, DOWN, DOWN, {"result": 1}]}, "random": 0.5})
    report = simulate(loaded.program, script).report()
    return [
        event["data"]["delay_seconds"]
        for event in report["events"]
        if event["name"] == "task.retry_scheduled"
    ]


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (SPEC % 'retry_policy="[20s, 5m, 30m, 2h]"', [20, 300, 1800, 7200]),
        (SPEC % 'retry_policy="1s 2s" retry_policy.rate_limit="7s"', [1, 7]),
        (SPEC % 'retry_preset="1s, 2s, 3s"', [1, 2, 3]),
        (DOCS % 'retry_backoff="20s, 5m" max_retries=3', [20, 300, 300]),
        (DOCS % 'retry_backoff=none retry_backoff.rate_limit="9s, 10s" max_retries=3', [0, 10, 0]),
        (DOCS % 'retry_backoff="100s" retry_jitter=0.5 max_retries=1', [125]),
    ],
)
def test_a_node_waits_by_its_table(graph: str, expected: list[float]) -> None:
    assert delays(graph) == expected


@pytest.mark.parametrize("word", ["20s, soon", "[]", "quickly", "-1s"])
def test_what_is_neither_a_preset_nor_delays_is_an_error(word: str) -> None:
    loaded = load_text(SPEC % f'retry_policy="{word}"', "g.dot")
    assert loaded.program is None
    assert any("or delays such as" in found.message for found in loaded.findings)


def test_a_kind_of_error_that_does_not_exist_is_told_with_the_one_that_was_meant() -> None:
    loaded = load_text(DOCS % 'retry_backoff.rate_limt="9s" max_retries=3', "g.dot")
    assert any("retry_backoff.rate_limit" in found.suggestion for found in loaded.findings)


def test_a_table_survives_the_way_to_a_playbook_and_back() -> None:
    graph = DOCS % 'retry_backoff="20s, 5m" retry_backoff.rate_limit="9s, 10s" max_retries=3'
    playbook = graph_to_playbook(graph, "g.dot").text
    assert playbook is not None
    program = load_text(playbook, "g.yaml").program
    assert program is not None
    again = program_to_dot(program).text
    assert again is not None
    assert delays(again) == delays(graph) == [20, 10, 300]
