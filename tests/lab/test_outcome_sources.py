"""A script can name one step-run, its random numbers and how late workers come."""

from __future__ import annotations

import pytest

from anew.engine import events as e
from anew.errors import ConfigError
from anew.lab.outcome_sources import ExecutionStart, PlayedEntry
from anew.lab.script import ScriptEntry, script_of
from anew.lab.script_warnings import script_warnings
from anew.lab.simulate import simulate
from anew.languages import load_text

LOOP = """
workflow:
  - step: each
    loop: {in: [a, b, c], iterator: it, spec: {mode: parallel}}
    tool:
      - call:
          kind: http
          url: "http://x"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, delay: 1, jitter: full}
"""


def played(document: str, **script: object):
    program = load_text(document, "flow.yaml").program
    assert program is not None
    return simulate(program, script_of(script))


def executions(run, iteration: int) -> int:
    started = [x for x in run.log if isinstance(x, e.TaskStarted)]
    return sum(event.iteration == iteration for event in started)


def test_an_exact_key_speaks_of_one_iteration_only() -> None:
    failing = [{"error": {"kind": "connection"}}, {"result": 1}]
    run = played(LOOP, outcomes={"each#1[1].call": failing, "call": [{"result": 2}]})
    assert [executions(run, n) for n in range(3)] == [1, 2, 1]
    assert run.state.results["each"].result["results"] == [2, 1, 2]


def test_draws_are_used_in_order_and_then_the_middle() -> None:
    failing = {"error": {"kind": "connection"}, "times": 2}
    run = played(
        LOOP.replace("[a, b, c]", "[a]"),
        outcomes={"call": [failing, {"result": 1}]},
        random={"draws": [0.25]},
    )
    waits = [x.delay_seconds for x in run.log if isinstance(x, e.TaskRetryScheduled)]
    assert waits == [0.25, 0.5]


def test_a_worker_may_come_late_for_a_step_run() -> None:
    failing = [{"error": {"kind": "connection"}}, {"result": 1}]
    run = played(
        LOOP.replace("[a, b, c]", "[a]"),
        outcomes={"call": failing},
        lags={"each#1[0]": [0.5, 0.25]},
    )
    begun = [(x.at - run.log[0].at) / 1e9 for x in run.log if isinstance(x, e.TaskStarted)]
    assert begun == [0.5, 0.5 + 0.5 + 0.25]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"random": {"draws": [2]}}, "random.draws must be a list of fractions"),
        ({"random": {"draws": [0.1], "seed": 1}}, "a seed or draws, not both"),
        ({"random": {"sed": 1}}, "unknown key 'sed'"),
        ({"random": []}, "random must be a fraction"),
        ({"lags": {"a#1": 3}}, "lags.a#1 must be a list of seconds"),
        ({"lags": {"a#1": ["x"]}}, "each must be a number of seconds"),
        ({"invariants": "x"}, "invariants must be a list of conditions"),
    ],
)
def test_a_wrong_word_of_a_script_is_named(said, message) -> None:
    with pytest.raises(ConfigError, match=message):
        script_of(said)


def test_a_key_of_a_step_run_that_names_no_task_is_doubted() -> None:
    program = load_text(LOOP, "flow.yaml").program
    assert program is not None
    script = script_of({"outcomes": {"each#1[1].cal": {}}, "lags": {"eech#1": [1]}})
    told = list(script_warnings(script, program))
    assert any("each.cal names no task" in one for one in told)
    assert any("lags.eech#1 names no step" in one for one in told)
    assert not list(script_warnings(script_of({"outcomes": {"each#1[1].call": {}}}), program))


class Counting:
    """A world that gives each execution its number."""

    def __init__(self) -> None:
        self.asked: list[ExecutionStart] = []

    def next(self, asking: ExecutionStart) -> PlayedEntry:
        self.asked.append(asking)
        return PlayedEntry(ScriptEntry({"result": len(self.asked)}, 1, 0))

    def lag(self, key) -> int:  # noqa: ARG002
        return 0


def test_a_player_answers_in_the_place_of_the_script() -> None:
    program = load_text(LOOP, "flow.yaml").program
    assert program is not None
    player = Counting()
    run = simulate(program, script_of({"outcomes": {"call": {"result": 9}}}), player=player)
    assert run.state.results["each"].result["results"] == [1, 2, 3]
    assert [asking.kind for asking in player.asked] == ["http"] * 3
    assert [asking.key.iteration for asking in player.asked] == [0, 1, 2]
