"""Branches in `next`, as older playbooks write them: which steps start, and what `migrate` makes."""

from __future__ import annotations

from typing import Any

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from tests.play import BOOM, play

DOCUMENT = """\
workload: {v: 0, flag: "false"}
workflow:
- step: a
  tool: {kind: noop}
  next: %s
- {step: big, tool: {kind: noop}}
- {step: small, tool: {kind: noop}}
- {step: other, tool: {kind: noop}}
"""
ONE_EACH = """
  - {when: "{{ a.v > 5 }}", then: [{step: big}]}
  - {when: "{{ a.v > 2 }}", then: small}
  - {else: [{step: other}]}"""
SEVERAL = """
  - {when: "{{ a.v > 5 }}", then: [{step: big}, {step: small, args: {n: 1}}]}
  - {when: "a.v > 2", then: []}
  - {else: [other]}"""


def visits(next_of_a: str, outcome: Any) -> list[str]:
    """The steps after `a`, which the migrated playbook must visit too."""
    text = DOCUMENT % next_of_a
    migrated = migrate(text, "f.yaml")
    assert migrated.text is not None
    assert load_playbook(migrated.text, "f.yaml").strict == []
    first, second = (play(one, outcomes={"a": [outcome]}) for one in (text, migrated.text))
    assert (first["visits"], first["status"]) == (second["visits"], second["status"])
    return list(first["visits"])[1:]


def test_one_branch_is_taken_though_others_hold_too() -> None:
    assert visits(ONE_EACH, {"result": {"v": 9}}) == ["big"]
    assert visits(ONE_EACH, {"result": {"v": 3}}) == ["small"]
    assert visits(ONE_EACH, {"result": {"v": 1}}) == ["other"]


def test_one_step_each_is_an_exclusive_router() -> None:
    migrated = migrate(DOCUMENT % ONE_EACH, "f.yaml").text or ""
    assert "mode: exclusive" in migrated
    assert "not " not in migrated


def test_a_branch_may_start_several_steps_or_none() -> None:
    assert visits(SEVERAL, {"result": {"v": 9}}) == ["big", "small"]
    assert visits(SEVERAL, {"result": {"v": 3}}) == []
    assert visits(SEVERAL, {"result": {"v": 1}}) == ["other"]


@pytest.mark.parametrize("branches", [ONE_EACH, SEVERAL])
def test_else_does_not_handle_a_failure(branches: str) -> None:
    assert visits(branches, BOOM) == []


def test_a_condition_counts_as_one_also_where_it_is_asked_again() -> None:
    text = '\n  - {when: "{{ workload.flag }}", then: [big, small]}\n  - {else: other}'
    assert visits(text, {"result": {}}) == ["other"]


def test_an_arc_may_stand_among_branches() -> None:
    text = '\n  - {when: "{{ a.v > 5 }}", then: [{step: big}]}\n  - step: other'
    assert visits(text, {"result": {"v": 9}}) == ["big"]
    assert visits(text, {"result": {"v": 1}}) == ["other"]


def test_a_branch_may_hold_its_own_else() -> None:
    text = '\n  - {when: "{{ a.v > 5 }}", then: [{step: big}], else: [{step: small}]}'
    assert visits(text, {"result": {"v": 9}}) == ["big"]
    assert visits(text, {"result": {"v": 1}}) == ["small"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[{else: [big]}, {when: x, then: [small]}]", "next.shape"),
        ("[{when: a.v, then: [{step: big, when: a.w}]}]", "dialect.unsupported"),
        ("[{when: event.failed > 1, then: [big, small]}]", "dialect.unsupported"),
        ('[{when: "{{ a.v }} == 1", then: [big, small]}]', "dialect.unsupported"),
        ("[{when: a.v, then: [bigg]}]", "arc.unknown-step"),
        ("[{when: a.v, then: [[big]]}]", "next.shape"),
    ],
)
def test_what_cannot_be_a_branch_is_refused(text: str, rule: str) -> None:
    found = {finding.rule for finding in load_playbook(DOCUMENT % text, "f.yaml").findings}
    assert rule in found


LISTED = (
    "\n  - {step: big, when: a.v > 2}\n  - {step: small, when: a.v > 1}\n  spec: {next_mode: %s}"
)


def test_the_mode_of_a_list_may_be_said_by_the_step() -> None:
    assert visits(LISTED % "exclusive", {"result": {"v": 9}}) == ["big"]
    assert visits(LISTED % "inclusive", {"result": {"v": 9}}) == ["big", "small"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (LISTED % "some", "next.mode"),
        ("{arcs: [big, small, other]}\n  spec: {next_mode: inclusive}", "key.unused"),
        ("[{when: a.v, then: [big]}]\n  spec: {next_mode: inclusive}", "dialect.unsupported"),
    ],
)
def test_a_mode_that_would_not_be_followed_is_reported(text: str, rule: str) -> None:
    found = {finding.rule for finding in load_playbook(DOCUMENT % text, "f.yaml").findings}
    assert rule in found
