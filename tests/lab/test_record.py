"""A scenario that is made of a run gives the decisions of that run again."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.boundaries import Boundary, Paused, Reported, Resumed, Taken
from anew.engine.decide import decide
from anew.engine.events import Event
from anew.engine.fold import fold
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import StepRunKey
from anew.errors import ConfigError
from anew.lab import world as lab_world
from anew.lab.decisions import first_difference
from anew.lab.outcome_sources import ScriptedOutcomes
from anew.lab.recording import Recorded, record
from anew.lab.recording.scenario_text import scenario_text
from anew.lab.recording.truncation import CUT_LIST_ITEMS_MAX
from anew.lab.replay import replay
from anew.lab.script import read_script, script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages import load_text
from anew.program.program import Program
from tests.engine.test_chaos import Chaos
from tests.engine.test_graph_invariants import Sketch, World, some_program
from tests.example_world import EXAMPLES, document_file
from tests.generated import playbooks, scripts
from tests.suites import tried
from tests.test_conformance import CASES, source, suffix
from tests.views.graphs import ASK, RACE, RACED, RESTARTS, drawn


def program_of(document: str, file: str = "flow.yaml") -> Program:
    program = load_text(document, file).program
    assert program is not None
    return program


def played(program: Program, recorded: Recorded) -> Simulation:
    """The scenario as someone would play it who has the file only."""
    return simulate(program, read_script(scenario_text(recorded.scenario), "x.scenario.yaml"))


def check(program: Program, runs: Sequence[Sequence[Event]]) -> Recorded:
    """The scenario is true, and so is its text; nothing in these runs is cut or secret."""
    recorded = record(program, runs)
    assert recorded.is_true, (recorded.difference, recorded.undecided)
    log = [event for run in runs for event in run]
    assert first_difference(log, played(program, recorded).log) is None
    return recorded


def is_derived(simulation: Simulation) -> bool:
    """A person's task that is scripted with outcomes is played as another one."""
    return all(replay(simulation.program, log) is None for log in simulation.runs)


@pytest.mark.parametrize("part", range(4))
def test_every_conformance_case_is_recorded_and_played_alike(part: int) -> None:
    count = 0
    for case in CASES[part::4]:
        program = program_of(source(case), f"doc{suffix(case)}")
        simulation = simulate(program, script_of(case["script"]))
        if simulation.state.is_final and is_derived(simulation):
            count += 1
            # To read the text takes longest, so not all are read.
            if count % 5:
                assert record(program, simulation.runs).is_true, case["id"]
            else:
                check(program, simulation.runs)
    assert count > 100


def scripted_examples() -> list[str]:
    found = EXAMPLES.rglob("*.script.yaml")
    return sorted(p.relative_to(EXAMPLES).as_posix().removesuffix(".script.yaml") for p in found)


@pytest.mark.parametrize("name", scripted_examples())
def test_every_example_is_recorded_and_played_alike(name: str) -> None:
    document = document_file(name)
    program = load_text(document.read_bytes(), str(document)).program
    script = read_script((EXAMPLES / f"{name}.script.yaml").read_text(), name)
    if program is None:
        pytest.skip("needs extensions")
    simulation = simulate(program, script)
    if not simulation.state.is_final or not is_derived(simulation):
        pytest.skip("is no run that has ended on its own")
    recorded = record(program, simulation.runs)
    assert recorded.is_true
    again = played(program, recorded)
    assert again.status == simulation.status
    assert [x.name for x in again.log] == [x.name for x in simulation.log]


@tried(document=playbooks(), script=scripts(), examples=5, long=(15,))
def test_random_playbooks_are_recorded_and_played_alike(document: str, script: Any) -> None:
    program = program_of(document)
    try:
        simulation = simulate(program, script_of(script), events_max=2_000)
    except ConfigError:  # it goes round in circles
        assume(False)
    assume(simulation.state.is_final)
    check(program, simulation.runs)


@tried(document=playbooks(), script=scripts(), seed=st.integers(0, 10**6), examples=5, long=(15,))
def test_workers_that_come_late_and_get_lost_change_no_decision(
    document: str, script: Any, seed: int
) -> None:
    chaos = Chaos(program_of(document), script_of(script), seed)
    chaos.play()
    assume(chaos.state.status.value in ("done", "failed"))
    recorded = record(chaos.program, [chaos.log])
    assume(not any("given up" in note for note in recorded.notes))
    # What reports in a pause is held until its end, which a script cannot say; nor that a wait was
    # skipped.
    is_excused = any(isinstance(event, (e.RunPaused, e.WaitSkipped)) for event in chaos.log)
    assert recorded.is_true or is_excused, recorded.difference


class Ticking(World):
    """As with a real clock, no two things happen in one instant."""

    def do(self, boundary: Boundary) -> None:
        self.now += 1
        super().do(boundary)


@tried(chance=st.randoms(use_true_random=False), examples=15, long=(45,))
def test_random_graphs_are_recorded_and_played_alike(chance: Random) -> None:
    program = some_program(Random(chance.randint(0, 10**9)))
    world = Ticking(program, Random(chance.randint(0, 10**9)))
    world.play()
    assume(world.state.status.value in ("done", "failed"))
    recorded = record(program, [world.log])
    assume(not any("given up" in note for note in recorded.notes))
    # What reports in a pause is held until its end, which a script cannot say.
    assume(not any(isinstance(event, e.RunPaused) for event in world.log))
    assert recorded.is_true, recorded.difference


def test_a_wait_that_is_not_over_decides_nothing_else() -> None:
    """Here someone looks at a question before its time, while a join could be skipped."""
    chance = Random(21315)
    found = (load_text(Sketch(chance).text(), "g.dot").program for _ in range(20))
    program = next(program for program in found if program is not None)
    world = Ticking(program, Random(21315 * 7 + 1))
    world.play()
    assert any(isinstance(event, e.StepSkipped) for event in world.log)
    assert replay(program, world.log) is None


TIMED = """
workflow:
  - step: s
    tool: {kind: noop, timeout: 200ms, spec: {policy: {rules: [{when: "{{ outcome.error.kind == 'timeout' }}", then: {do: retry, attempts: 50, backoff: none, max_elapsed: 1s}}]}}}
"""


@pytest.mark.parametrize("late", [0, 0.0266, 0.09])
def test_a_timeout_that_is_noticed_late_is_recorded_so(late: float) -> None:
    program = program_of(TIMED)
    slow = {"error": {"kind": "timeout", "message": "no answer"}, "takes": 0.2, "late": late}
    run = simulate(program, script_of({"outcomes": {"s": slow}}))
    attempts = run.report()["attempts"]["s"]
    took = run.log[-1].at - run.log[0].at
    assert took == pytest.approx(attempts * (0.2 + late) * NANOSECONDS)
    check(program, run.runs)


def test_a_result_that_is_known_after_its_limit_is_still_that_result() -> None:
    program = program_of(TIMED.replace("1s", "100ms"))
    entry = {"error": {"kind": "server_error", "message": "x"}, "takes": 0.2, "late": 0.03}
    run = simulate(program, script_of({"outcomes": {"s": entry}}))
    assert record(program, run.runs).is_true


SHARED = """
workload: {k: 1}
workflow:
  - step: a
    tool: {kind: noop, x: %s}
    next: [{step: b}]
  - step: b
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {x: "{{ a.n + workload.k }}"}}}}]}}}
"""


def test_a_beginning_that_another_program_decided_is_recorded_with_the_rest() -> None:
    before, edited = program_of(SHARED % 1), program_of(SHARED % 2)
    script = {"outcomes": {"a": {"result": {"n": 5}, "takes": 2}}, "workload": {"k": 3}}
    log = simulate(before, script_of({**script, "now": "2026-01-02T03:04:05Z"})).log
    cut = next(n for n, event in enumerate(log) if event.step == "b" and event.visit)
    state, shared = fold(log[:cut]), [replace(log[0], digest=edited.digest), *log[1:cut]]
    at = Moment(log[-1].at, lambda: 0.5)
    key = StepRunKey("b", 1)
    for boundary in (Paused("again", "1", before.digest), Resumed(), Taken(key)):
        shared += decide(edited, state, boundary, at).events
    report = Reported(key, outcome_of({"done": 1}), len(shared))
    shared += decide(edited, state, report, at).events
    recorded = record(edited, [shared])
    assert recorded.is_true, recorded.difference
    assert recorded.scenario["now"] == "2026-01-02T03:04:05Z"
    assert recorded.scenario["workload"] == {"k": 3}
    assert recorded.scenario["outcomes"]["a"] == [{"result": {"n": 5}, "takes": 2}]


ENDLESS = """
workflow:
  - step: s
    tool:
      - get: {kind: noop}
      - judge: {kind: noop, spec: {policy: {rules: [{when: "{{ not get.ready }}", then: {do: jump, to: get, delay: 1}}]}}}
"""


def test_a_poll_that_was_cancelled_is_recorded_up_to_there() -> None:
    program = program_of(ENDLESS)
    world = lab_world.World(
        program, script := script_of({}), player=ScriptedOutcomes(script), events_max=60
    )
    with pytest.raises(lab_world.EndlessRun):
        world.play()
    log = world.runs[0]
    cancelled = e.RunCancelled(reason="enough", seq=len(log) + 1, at=log[-1].at)
    assert record(program, [[*log, cancelled]]).is_true


MEASURED = """
workflow:
  - step: s
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: "{{ outcome.result.token | length }}"}}}}]}}}
"""


def test_a_scenario_that_cannot_be_true_is_still_one_to_read() -> None:
    program = program_of(MEASURED)
    result = {"token": "a-secret-of-some-length", "text": "x" * 900}
    outcomes = {"s": {"result": result, "takes": 0.123456789}}
    run = simulate(program, script_of({"outcomes": outcomes}))
    recorded = record(program, run.runs)
    assert not recorded.is_true
    assert recorded.timing == "rounded"
    said = recorded.scenario["outcomes"]["s"][0]
    assert said["takes"] == 0.123
    assert len(said["result"]["text"]) < 500
    assert (
        len(record(program, run.runs, is_full=True).scenario["outcomes"]["s"][0]["result"]["text"])
        == 900
    )


def test_of_many_things_that_were_cut_a_few_are_told() -> None:
    document = "workflow: [{step: s, loop: {in: '{{ range(40) | list }}', iterator: n}, tool: {kind: noop}}]"
    program = program_of(document)
    run = simulate(program, script_of({"outcomes": {"s": {"result": "x" * 900}}}))
    notes = record(program, run.runs).notes
    assert len(notes) == 6
    assert notes[-1] == "and 35 more like these"


def test_a_line_of_runs_is_recorded_as_one() -> None:
    failing = {"status": "fail", "error": {"type": "TERMINAL"}, "takes": 2}
    run = drawn(RESTARTS, outcomes={"b": [failing, failing, {"status": "success", "takes": 3}]})
    recorded = check(run.program, run.runs)
    assert len(run.runs) == 3
    assert len(recorded.scenario["outcomes"]["b#1.b"]) == 2  # one of them twice


def test_a_branch_that_is_stopped_at_work_stays_slower_than_the_one_that_won() -> None:
    run = drawn(RACE, outcomes=RACED)
    recorded = check(run.program, run.runs)
    assert recorded.scenario["outcomes"]["c2"][0]["takes"] > 1


@pytest.mark.parametrize("script", [{}, {"outcomes": {"h": {"answer": "n", "takes": 3}}}])
def test_answers_and_silence_are_recorded(script: Any) -> None:
    run = drawn(ASK % "timeout=5 timeout_action=first", **script)
    recorded = check(run.program, run.runs)
    said = recorded.scenario.get("outcomes", {}).get("h")
    assert said == ([{"answer": "n", "takes": 3}] if script else None)


def test_only_what_the_request_laid_over_the_workload_is_recorded() -> None:
    program = program_of(
        "workload: {a: 1, b: {c: 2, d: 3}, id: '{{ execution_id }}'}\n"
        "workflow: [{step: s, tool: {kind: noop}}]"
    )
    run = simulate(program, script_of({"workload": {"b": {"d": 4}}}))
    assert check(program, run.runs).scenario["workload"] == {"b": {"d": 4}}


POLLED = """
workflow:
  - step: s
    tool:
      - rows: {kind: noop}
      - count:
          kind: noop
          spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: "{{ rows.all | length }}"}}}}]}}
      - kept: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {text: "{{ outcome.result.text }}"}}}}]}}}
"""


def test_large_values_are_cut_but_for_those_that_decide() -> None:
    program = program_of(POLLED)
    outcomes = {
        "rows": {"result": {"all": list(range(50)), "text": "x" * 5_000}},
        "kept": {"result": {"text": "y" * 5_000, "rest": list(range(900))}},
    }
    run = simulate(program, script_of({"outcomes": outcomes}))
    recorded = record(program, run.runs)
    assert recorded.is_true
    said = recorded.scenario["outcomes"]
    assert said["rows"][0]["result"] == outcomes["rows"]["result"]
    assert len(said["kept"][0]["result"]["rest"]) == CUT_LIST_ITEMS_MAX
    assert len(said["kept"][0]["result"]["text"]) < 500
    assert "s#1.rows is whole: a decision depends on it" in recorded.notes
    assert "s#1.kept.result.rest: 20 of 900 items kept" in recorded.notes
    whole = record(program, run.runs, is_full=True)
    assert whole.scenario["outcomes"]["kept"][0]["result"] == outcomes["kept"]["result"]


def test_a_run_that_has_not_ended_is_refused() -> None:
    run = drawn(ASK % "")
    with pytest.raises(ConfigError, match="has not ended, it is waiting"):
        record(run.program, run.runs)


def test_a_log_that_cannot_be_derived_is_not_called_true() -> None:
    program = program_of(POLLED)
    log = simulate(program, script_of({})).log
    index = next(n for n, event in enumerate(log) if isinstance(event, e.TaskProcessed))
    log[index] = replace(log[index], rule=7)
    recorded = record(program, [log])
    assert not recorded.is_true
    assert recorded.undecided is not None
    assert recorded.undecided.seq == index + 1


def test_a_cancelled_run_is_recorded_up_to_there() -> None:
    program = program_of(POLLED)
    log = simulate(program, script_of({"outcomes": {"count": {"result": 1, "takes": 9}}})).log
    index = max(n for n, event in enumerate(log) if isinstance(event, e.TaskStarted))
    cancelled = e.RunCancelled(reason="enough", seq=index + 2, at=log[index].at)
    recorded = record(program, [[*log[: index + 1], cancelled]])
    assert recorded.is_true
    assert recorded.scenario["outcomes"]["count"] == [{"result": 1, "takes": 9}]
    assert "expect" not in recorded.scenario
