"""The policies of steps, loops, routers and executors are not those of tasks."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook

STEP = "workflow:\n- step: a\n  tool: {kind: noop}\n"


def found_in(text: str) -> list[tuple[str, int]]:
    return [(found.rule, found.place.line) for found in load_playbook(text, "f.yaml").findings]


LOOP = STEP + "  loop: {in: [1], iterator: x, spec: {policy: %s}}\n"
NEXT = STEP + "  next: {arcs: [], spec: {policy: %s}}\n"
SPEC = STEP + "  spec: {policy: %s}\n"
TASK_POLICIES = [
    "[{else: {then: {do: retry}}}]",
    "{rules: []}",
    "{then: {do: retry}}",
    "{exec: {do: retry}}",
    "retry",
    "{attempts: 3}",
]


@pytest.mark.parametrize("policy", TASK_POLICIES)
@pytest.mark.parametrize("holder", [LOOP, NEXT, SPEC], ids=["loop", "next", "step"])
def test_a_task_directive_in_another_policy_is_one_error(holder: str, policy: str) -> None:
    assert found_in(holder % policy) == [("policy.misplaced", 4)]


@pytest.mark.parametrize("policy", ["{failure: {do: retry}}", "{lifecycle: {do: fail}}"])
def test_a_task_directive_deeper_in_a_step_policy_is_one_error(policy: str) -> None:
    assert found_in(SPEC % policy) == [("policy.misplaced", 4)]


def test_a_failure_mode_that_reads_like_a_directive_is_only_an_unknown_mode() -> None:
    assert found_in(SPEC % "{failure: {mode: fail}}") == [("failure.mode", 4)]


@pytest.mark.parametrize(
    ("policy", "rule"),
    [("5", "value.type"), ("{foo: 1}", "key.unknown"), ("{exec: [1]}", "value.type")],
)
def test_a_loop_policy_is_checked_like_anything_else(policy: str, rule: str) -> None:
    assert found_in(LOOP % policy) == [(rule, 4)]


@pytest.mark.parametrize(("policy", "rule"), [("5", "value.type"), ("{foo: 1}", "key.unknown")])
def test_a_router_policy_is_checked_like_anything_else(policy: str, rule: str) -> None:
    assert found_in(NEXT % policy) == [(rule, 4)]


def test_what_these_policies_may_hold_is_accepted() -> None:
    admit = "{admit: {rules: [{else: {then: {allow: true}}}]}, lifecycle: {timeout_s: 3}}"
    assert found_in(LOOP % "{exec: distributed}") == []
    assert found_in(SPEC % admit) == []
