"""Signals in scripts: at which moment they come, whom they serve, and which scripts make no sense."""

import pytest

from anew.engine import events as e
from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.lab.replay import replay
from anew.lab.script import script_of
from anew.lab.script_warnings import script_warnings
from anew.languages import load_text
from tests.play import play, rows, simulated

TASKS = """
workflow:
  - step: start
    tool:
      - {name: pay, kind: wait, signal: paid, timeout: 10}
      - {name: ask, kind: human, question: "Ship?", choices: [Yes, No]}
      - {name: done, kind: noop, result: "{{ [pay, ask.label] }}"}
"""
BOTH = """
workflow:
  - step: each
    loop: {in: [0, 1], iterator: n, spec: {mode: parallel}}
    tool:
      - {name: w, kind: wait, signal: paid, timeout: "{{ [9, 4][iter.n] }}"}
"""
RESTART = """
workflow:
  - step: start
    tool: {kind: wait, signal: paid, timeout: 100}
    next: [{step: again}]
  - step: again
    tool: {kind: restart, entry: start}
executor: {spec: {limits: {restarts: 1}}}
"""


def test_a_task_that_waits_may_be_followed_by_one_that_asks():
    report = play(
        TASKS, outcomes={"pay": [{"signal": 1, "takes": 2}], "ask": [{"answer": "No", "takes": 20}]}
    )
    assert (report["status"], report["elapsed"]) == ("done", 22.0)
    # The end of a wait whose signal came asks nobody again.
    assert len(rows(report, "human.waiting")) == 1


def test_the_signal_of_one_wait_serves_the_one_that_has_waited_longest():
    simulation = simulated(
        BOTH, outcomes={"w": [{"signal": "a", "takes": 8}, {"signal": "b", "takes": 1}]}
    )
    served = [(x.iteration, x.payload) for x in simulation.log if isinstance(x, e.SignalReceived)]
    assert served == [(0, "b")]
    [silent] = [x for x in simulation.log if isinstance(x, e.SignalTimedOut)]
    assert silent.iteration == 1  # its own came after its time
    assert replay(simulation.program, simulation.log) is None


def test_a_run_that_is_begun_anew_has_no_signals_of_the_one_before():
    sent = [{"signal": "paid", "payload": n, "at": n} for n in (1, 2)]
    simulation = simulated(RESTART, signals=sent)
    assert len(simulation.runs) == 2
    assert [x.payload for x in simulation.runs[0] if isinstance(x, e.SignalReceived)] == [1]
    assert [x for x in simulation.runs[1] if isinstance(x, e.SignalReceived)] == []
    assert simulation.runs[1][-1].at == simulation.runs[0][-1].at + 100 * 10**9


def test_answers_and_outcomes_of_a_wait_are_played_like_a_call():
    document = "workflow: [{step: w, tool: {kind: wait, signal: paid}}]"
    report = play(document, outcomes={"w": [{"error": {"kind": "timeout", "message": "x"}}]})
    assert (report["status"], report["error"]["kind"]) == ("failed", "timeout")
    mixed = [{"error": {"kind": "timeout", "message": "x"}}, {"signal": {"n": 1}}]
    rules = (
        "spec: {policy: {rules: [{when: \"{{ outcome.status == 'error' }}\", then: {do: retry}}]}}"
    )
    simulation = simulated(
        document.replace("signal: paid", f"signal: paid, {rules}"), outcomes={"w": mixed}
    )
    assert (simulation.status, simulation.state.last_result) == (RunStatus.DONE, {"n": 1})


def test_a_signal_for_a_task_that_waits_for_none_is_doubted():
    program = load_text(TASKS, "test.yaml").program
    script = script_of({"outcomes": {"done": [{"signal": 1}], "pay": {"signal": 1}}})
    assert list(script_warnings(script, program)) == [
        "outcomes.done[0] is a signal, and nothing of that name waits for one."
    ]


@pytest.mark.parametrize(
    ("signals", "why"),
    [
        ({"signal": "paid"}, "signals must be a list"),
        (["paid"], r"signals\[0\] must be a mapping"),
        ([{"payload": 1}], r"signals\[0\]: signal must be a name"),
        ([{"signal": "a b"}], "signal must be a name"),
        ([{"signal": "paid", "id": 3}], "id must be a text"),
        ([{"signal": "paid", "at": "soon"}], "at must be a number of seconds"),
        ([{"signal": "paid", "takes": 1}], "unknown key 'takes'"),
        ([{"signal": "paid", "payload": {"$secret": "x"}}], "which marks secrets"),
    ],
)
def test_a_script_that_makes_no_sense_is_refused(signals, why):
    with pytest.raises(ConfigError, match=why):
        script_of({"signals": signals})
