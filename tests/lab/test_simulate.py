"""The simulator's own promises: order, ties and an end."""

import pytest

from anew.errors import ConfigError
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from tests.play import BOOM, play

CIRCLE = "workflow: [{step: a, tool: {kind: noop}, next: a}]"
EMPTY_CIRCLE = (
    'workflow: [{step: a, loop: {in: "{{ [] }}", iterator: i}, tool: {kind: noop}, next: a}]'
)


@pytest.mark.parametrize("document", [CIRCLE, EMPTY_CIRCLE])
def test_a_run_without_an_end_is_given_up_and_names_the_step(document):
    program = load_text(document, "d.yaml").program
    with pytest.raises(ConfigError, match=r"passed 50 events.*a \("):
        simulate(program, script_of({}), events_max=50)


def test_a_worker_is_always_free():
    fork = (
        "[{step: start, tool: {kind: noop}, next: [a, b]}, {step: a, tool: {kind: noop}, next: c},"
    )
    document = (
        f"workflow: {fork} {{step: b, tool: {{kind: noop}}}}, {{step: c, tool: {{kind: noop}}}}]"
    )
    report = play(document, outcomes={"b": [BOOM], "c": [{"takes": 2}]})
    assert (report["visits"], report["elapsed"]) == (["start", "a", "b", "c"], 2)


def test_the_same_seed_gives_the_same_log():
    document = """
workflow:
- step: a
  tool:
  - t: {kind: noop, spec: {policy: {rules: [{when: "_attempt < 5", then: {do: retry, attempts: 9, delay: 1, jitter: full}}]}}}
"""
    runs = [play(document, random={"seed": seed})["delays"] for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
