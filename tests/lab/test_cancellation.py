"""Analyses that can take long ask all the while whether anybody still waits for them."""

from __future__ import annotations

import sys

import pytest

from anew.lab.bounds import bounds_of
from anew.lab.cancellation import AnalysisCancelled, CancelCheck, until_cancelled
from anew.lab.recording import record
from anew.languages import load_text
from anew.program.program import Program
from tests.play import simulated

STEPS = 30
# Of functions, between two questions: what takes a few milliseconds, and more in a larger program.
CALLS_MAX = 3_400
LOOP = """
workflow:
  - step: each
    loop: {in: "{{ range(40) | list }}", iterator: n}
    tool: {kind: http, url: "http://x/{{ n }}"}
"""


class Counting:
    """Patience for so many questions."""

    def __init__(self, most: float = float("inf")) -> None:
        self.asked, self._most = 0, most

    def __call__(self) -> None:
        self.asked += 1
        if self.asked > self._most:
            raise AnalysisCancelled


def document(arcs_of: str, *, mode: str) -> Program:
    """Thirty steps with two arcs each; `arcs_of` says where the second one leads."""
    lines = ["workflow:"]
    for number in range(STEPS):
        to = {"ahead": min(number + 2, STEPS - 1), "back": number // 2}[arcs_of]
        ahead = min(number + 1, STEPS - 1)
        arcs = ", ".join(f'{{step: s{one}, when: "{{{{ x }}}}"}}' for one in (ahead, to))
        lines.append(f"  - step: s{number}\n    tool: {{kind: noop}}")
        if number < STEPS - 1:
            lines.append(f"    next: {{spec: {{mode: {mode}}}, arcs: [{arcs}]}}")
    program = load_text("\n".join(lines), "d.yaml").program
    assert program is not None
    return program


def one_task_after_the_other() -> Program:
    rule = '{when: "{{ x }}", then: {do: jump, to: t0}}'
    spec = f"spec: {{policy: {{rules: [{rule}]}}}}"
    tasks = [f"      - t{number}: {{kind: noop, {spec}}}" for number in range(STEPS)]
    text = "\n".join(["workflow:", "  - step: s", "    tool:", *tasks])
    program = load_text(text, "d.yaml").program
    assert program is not None
    return program


PROGRAMS = {
    "walked": document("ahead", mode="exclusive"),
    "walked in cycles": document("back", mode="exclusive"),
    "followed": document("ahead", mode="inclusive"),
    "followed in cycles": document("back", mode="inclusive"),
    "a long pipeline": one_task_after_the_other(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_little_is_done_between_two_questions(name: str) -> None:
    calls, most = [0], [0]

    def count(_frame: object, event: str, _what: object) -> None:
        calls[0] += event == "call"

    def cancel_check() -> None:
        most[0], calls[0] = max(most[0], calls[0]), 0

    sys.setprofile(count)
    try:
        bounds_of(PROGRAMS[name], cancel_check=cancel_check)
    finally:
        sys.setprofile(None)
    cancel_check()
    assert most[0] < CALLS_MAX


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_worst_case_is_looked_for_as_long_as_somebody_waits(name: str) -> None:
    cancel_check = Counting()
    bounds_of(PROGRAMS[name], cancel_check=cancel_check)
    assert cancel_check.asked > 3 * STEPS
    # Wherever it is: the next question ends it.
    for most in range(0, cancel_check.asked, max(1, cancel_check.asked // 20)):
        impatient = Counting(most)
        with pytest.raises(AnalysisCancelled):
            bounds_of(PROGRAMS[name], cancel_check=impatient)
        assert impatient.asked == most + 1


def test_a_run_is_recorded_as_long_as_somebody_waits() -> None:
    simulation = simulated(LOOP, outcomes={"each": [{"result": {"text": "x" * 1_000}}]})
    cancel_check = Counting()
    whole = record(simulation.program, [simulation.log], cancel_check=cancel_check)
    assert whole.is_true
    assert whole == record(simulation.program, [simulation.log])
    assert cancel_check.asked > 3 * len(simulation.log)
    for most in range(0, cancel_check.asked, cancel_check.asked // 20):
        impatient = Counting(most)
        with pytest.raises(AnalysisCancelled):
            record(simulation.program, [simulation.log], cancel_check=impatient)
        assert impatient.asked == most + 1


def test_items_are_given_as_long_as_somebody_waits() -> None:
    def two() -> CancelCheck:
        return Counting(2)

    assert list(until_cancelled("ab", two())) == ["a", "b"]
    with pytest.raises(AnalysisCancelled):
        list(until_cancelled("abc", two()))
