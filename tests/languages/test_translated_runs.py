"""Random graphs do the same when they are put into the other language, and back."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.loading import load_dot
from anew.languages.playbook import load_playbook
from anew.languages.translation.to_dot import program_to_dot
from anew.languages.translation.to_playbook import graph_to_playbook
from anew.program.program import Program
from anew.values import Object
from tests.languages.dot.generated_graphs import case_of

SEEDS = range(40)


def story(program: Program | None, script: Object) -> Any:
    """What a run does: executions, delays and its end."""
    assert program is not None
    report = simulate(program, script_of(script)).report()
    started = [event for event in report["events"] if event["name"] == "task.started"]
    return {
        "executed": [event["step"] for event in started],
        "delays": [delay["seconds"] for delay in report["delays"]],
        "status": report["status"],
        "error": (report["error"] or {}).get("kind"),
        "unsatisfied": report.get("unsatisfied"),
    }


def playbook_of(graph: str) -> Program | None:
    migrated = graph_to_playbook(graph, "graph.dot")
    assert migrated.text is not None, migrated.findings
    return load_playbook(migrated.text, "flow.yaml").program


@pytest.mark.parametrize("dialect", DotDialect)
def test_a_random_graph_does_the_same_as_a_playbook(dialect: DotDialect) -> None:
    for seed in SEEDS:
        case = case_of(Random(seed), dialect)
        program = load_dot(case.text, "graph.dot").program
        if program is not None:
            before = story(program, case.script)
            assert story(playbook_of(case.text), case.script) == before, f"seed {seed}"


def test_a_playbook_does_the_same_as_a_graph_that_has_nothing_to_report() -> None:
    compared = 0
    for seed in SEEDS:
        case = case_of(Random(seed), DotDialect.DOCS)
        program = playbook_of(case.text)
        assert program is not None
        translated = program_to_dot(program)
        if translated.findings:
            continue
        compared += 1
        again = load_dot(translated.text, "graph.dot").program
        assert story(again, case.script) == story(program, case.script), f"seed {seed}"
    assert compared > len(SEEDS) // 2
