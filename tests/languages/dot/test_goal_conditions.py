"""A goal gate may be a condition, asked at the end of the node's last visit, or a description."""

from __future__ import annotations

from typing import Any

import pytest

from anew.languages import load_text
from anew.languages.translation.to_playbook import graph_to_playbook
from tests.languages.dot.scenario import DOCS_ENDS, OK, PARTIAL, SPEC_ENDS, Played
from tests.languages.dot.scenario import play as played
from tests.play import play


def graph(gate: str, *, ends: str = SPEC_ENDS, more: str = "") -> str:
    return f'digraph p {{ {ends} w [prompt=p goal=p goal_gate="{gate}" retry_target=w max_retries=3] {more} s->w->x }}'


def wrote(value: str) -> dict[str, Any]:
    return {**OK, "context": {"tests": value}}


@pytest.mark.parametrize(
    ("gate", "way"),
    [
        ("outcome = success", "s w x w x"),
        ("outcome != fail", "s w x"),
        ("outcome = partial_success", "s w x"),
        ("Everything is done", "s w x"),
        ("done", "s w x"),
        ("true", "s w x"),
    ],
)
def test_a_condition_on_the_outcome_decides_and_a_description_does_not(gate: str, way: str) -> None:
    assert played(graph(gate), w=[PARTIAL, OK]).way == way


@pytest.mark.parametrize(
    ("gate", "ends"),
    [
        ("context.tests = passed", SPEC_ENDS),
        ("outcome = success && context.tests=passed", SPEC_ENDS),
        ("status == 'SUCCESS' AND tests == 'passed'", DOCS_ENDS),
    ],
)
def test_a_condition_on_the_context_is_asked_when_the_visit_ends(gate: str, ends: str) -> None:
    found = played(graph(gate, ends=ends), w=[wrote("failed"), wrote("passed")])
    assert (found.way, found.status) == ("s w x w x", "done")
    assert [row["data"].get("gate") for row in found.rows("step.done") if row["step"] == "w"] == [
        False,
        True,
    ]


def test_what_others_write_after_the_visit_does_not_count() -> None:
    text = (
        f'digraph p {{ {SPEC_ENDS} w [prompt=p goal_gate="context.tests = passed"] '
        "v [prompt=p] s->w->v->x }"
    )
    found: Played = played(text, w=[wrote("failed")], v=[wrote("passed")])
    assert (found.status, found.unsatisfied) == ("failed", ["w"])


def test_a_gate_in_a_branch_is_asked_there() -> None:
    text = (
        f"digraph p {{ {SPEC_ENDS} f [shape=component] j [shape=tripleoctagon] b [prompt=p] "
        'w [prompt=p goal_gate="context.tests = passed"] s->f f->w f->b w->j b->j j->x }'
    )
    assert played(text, w=[wrote("failed")]).unsatisfied == ["w"]
    assert played(text, w=[wrote("passed")]).unsatisfied == []


def test_a_graph_with_such_a_gate_means_the_same_as_a_playbook() -> None:
    text = graph("context.tests = passed")
    document = graph_to_playbook(text, "g.dot").text
    assert load_text(document, "g.yaml").program is not None
    report = play(document, outcomes={"w": [wrote("failed"), wrote("passed")]})
    assert (report["status"], report["visits"]) == ("done", "s w x w x".split())


def test_a_node_whose_condition_does_not_hold_spends_its_retries() -> None:
    text = (
        f'digraph p {{ {SPEC_ENDS} w [prompt=p] v [prompt=p goal_gate="context.tests = passed" '
        "retry_target=w max_retries=2] s->w->v->x }"
    )
    found = played(text, v=[wrote("failed")])
    assert (found.way, found.error["kind"]) == ("s w v x w v x w v x", "gate_unsatisfied")
