"""Which pool of workers a step asks for."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook

STEP = "workflow:\n- step: a\n"


@pytest.mark.parametrize(
    ("text", "pool"),
    [
        ("  tool: {kind: noop}\n", None),
        ("  tool: {kind: noop}\n  spec: {pool: heavy}\n", "heavy"),
        ("  tool: noop\n  spec: {pool: heavy, policy: {lifecycle: {timeout_s: 3}}}\n", "heavy"),
        ("  tool: {kind: noop, spec: {pool: heavy}}\n", "heavy"),
        ("  tool:\n  - a: {kind: noop}\n  - b: {kind: noop, spec: {pool: heavy}}\n", "heavy"),
        ("  tool: {kind: noop, spec: {pool: heavy}}\n  spec: {pool: heavy}\n", "heavy"),
        ("  tool: {kind: noop, spec: {pool: }}\n", None),
    ],
)
def test_a_step_asks_for_the_pool_that_it_or_its_tasks_name(text: str, pool: str | None) -> None:
    loaded = load_playbook(STEP + text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    assert loaded.program.steps["a"].pool == pool


def test_the_tasks_of_a_step_cannot_ask_for_several_pools() -> None:
    tool = "  tool:\n  - t: {kind: noop, spec: {pool: light}}\n  spec: {pool: heavy}\n"
    (found,) = load_playbook(STEP + tool, "f.yaml").findings
    assert (found.rule, found.place.line) == ("step.pool", 4)
    assert "'light'" in found.message


@pytest.mark.parametrize("pool", ['"{{ ctx.pool }}"', "[heavy]", '" "'])
def test_a_pool_is_a_name(pool: str) -> None:
    text = f"{STEP}  tool: {{kind: noop}}\n  spec: {{pool: {pool}}}\n"
    assert [found.rule for found in load_playbook(text, "f.yaml").findings] == ["value.type"]
