"""Which tasks every run executes, as far as a document says so."""

import pytest

from anew.languages import load_text
from anew.program.certain import certain_tasks

CHAIN = """
metadata: {name: chain}
workflow:
  - step: first
    tool: {kind: noop}
    next: [{step: second}]
  - step: second
    tool: {kind: noop}
"""


def certain(text: str) -> list[str]:
    program = load_text(text.encode(), "chain.yaml").program
    assert program is not None
    return [task.label for task in certain_tasks(program)]


def test_steps_behind_each_other_are_certain() -> None:
    assert certain(CHAIN) == ["first", "second"]


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("{step: second}", "{step: second, when: '{{ workload.x }}'}", ["first"]),
        ("[{step: second}]", "{spec: {mode: exclusive}, arcs: [{step: third, when: '{{ 1 }}'}, {step: second}]}\n  - step: third", ["first"]),
        ("- step: first", "- step: first\n    loop: {in: '{{ workload.x }}', iterator: it}", ["second"]),
    ],
)  # fmt: skip
def test_what_depends_on_a_condition_is_not(old: str, new: str, left: list[str]) -> None:
    found = certain(CHAIN.replace(old, new))
    assert [label for label in found if label != "third"] == left


def test_a_task_behind_one_that_may_end_the_step_is_not() -> None:
    tools = (
        "tool:\n"
        "      - one: {kind: noop, spec: {policy: {rules: [{when: '{{ 1 }}', then: {do: break}}]}}}\n"
        "      - two: {kind: noop}"
    )
    assert certain(CHAIN.replace("tool: {kind: noop}", tools, 1)) == ["one", "second"]
