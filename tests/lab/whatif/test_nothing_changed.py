"""The same program on its own past: nothing changes, and all of it is certain."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anew.errors import ConfigError
from anew.lab.script import read_script, script_of
from anew.lab.simulate import simulate
from anew.lab.whatif import PastRun, whatif
from anew.lab.whatif.play import figures_of
from anew.languages import load_text
from tests.generated import playbooks, scripts
from tests.suites import tried
from tests.test_conformance import CASES, source, suffix
from tests.test_examples import ROOT, SCRIPTS, document_of
from tests.views.graphs import RESTARTS, drawn

# Of the whole suite, which other tests play in full: every feature has several cases.
SAMPLED_CASES = CASES[::5]


def assert_nothing_changes(program, log) -> None:
    answer = whatif([PastRun("1", program, log)], program)
    assert answer.left == []
    (verdict,) = answer.runs
    assert verdict.is_certain
    assert verdict.plays[0].status == verdict.was
    assert verdict.plays[0].figures == verdict.before == figures_of(program, log)
    assert verdict.departs is None
    assert (answer.changes, answer.policies, answer.rates, answer.drawn) == ([], [], {}, 0)
    assert set(answer.doubts.values()) == {0}
    assert answer.unknown.mean == 0


@pytest.mark.parametrize("case", SAMPLED_CASES, ids=lambda case: case["id"])
def test_a_conformance_run(case) -> None:
    program = load_text(source(case), f"d{suffix(case)}").program
    simulation = simulate(program, script_of(case["script"]))
    assert_nothing_changes(program, simulation.log)


@pytest.mark.parametrize("script", SCRIPTS[::2], ids=str)
def test_an_example(script: Path) -> None:
    document = ROOT / document_of(script)
    program = load_text(document.read_text(encoding="utf-8"), str(document)).program
    said = read_script((ROOT / script).read_text(encoding="utf-8"), script.name)
    simulation = simulate(program, said)
    if simulation.status.value in ("done", "failed") and len(simulation.runs) == 1:
        assert_nothing_changes(program, simulation.log)


@tried(playbooks(), scripts(), examples=6, long=(19,))
def test_any_playbook(document, script) -> None:
    program = load_text(document, "generated.yaml").program
    try:
        simulation = simulate(program, script_of(script), events_max=2_000)
    except ConfigError:  # it goes in circles
        return
    if simulation.status.value in ("done", "failed"):
        assert_nothing_changes(program, simulation.log)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(0, 99))
def test_the_draws_of_the_log_are_drawn_again(failures, seed) -> None:
    rule = "{when: \"outcome.status == 'error'\", then: {do: retry, attempts: 4, delay: 1, jitter: full}}"
    tasks = "".join(
        f"{{step: s{n}, tool: {{kind: noop, spec: {{policy: {{rules: [{rule}]}}}}}}, next: s{n + 1}}}, "
        for n in range(len(failures))
    )
    document = f"workflow: [{tasks}{{step: s{len(failures)}, tool: {{kind: noop}}}}]"
    program = load_text(document, "d.yaml").program
    down = {"error": {"kind": "connection", "message": "gone"}}
    outcomes = {
        f"s{n}": [*([{**down, "times": times}] if times else []), {"result": n}]
        for n, times in enumerate(failures)
    }
    log = simulate(program, script_of({"outcomes": outcomes, "random": {"seed": seed}})).log
    assert_nothing_changes(program, log)


def test_workers_come_as_late_as_they_came() -> None:
    rule = "{when: \"outcome.status == 'error'\", then: {do: retry, attempts: 4, delay: 1, max_elapsed: 4}}"
    task = f"{{kind: noop, spec: {{policy: {{rules: [{rule}]}}}}}}"
    loop = "loop: {in: '{{ [1, 2, 3] }}', iterator: i, spec: {mode: parallel, max_in_flight: 2}}"
    document = f"workflow: [{{step: a, tool: {task}, next: b}}, {{step: b, {loop}, tool: {task}}}]"
    program = load_text(document, "d.yaml").program
    down = {"error": {"kind": "connection", "message": "gone"}, "times": 9}
    lags = {"a#1": [0.5, 2], "b#1": [3], "b#1[1]": [1, 2, 5], "b#1[2]": [4]}
    outcomes = {"a": [{**down, "times": 1}, {"takes": 1}], "b": [down]}
    log = simulate(program, script_of({"outcomes": outcomes, "lags": lags})).log
    assert (log[-1].at - log[0].at) / 1e9 > 15
    assert_nothing_changes(program, log)


def test_a_run_that_was_begun_anew_is_left_out() -> None:
    failing = {"status": "fail", "error": {"type": "TERMINAL"}}
    run = drawn(RESTARTS, outcomes={"b": [failing, {"status": "success"}]})
    answer = whatif([PastRun("1", run.program, run.runs[0])], run.program)
    assert [one.run for one in answer.left] == ["1"]
    assert "restarted" in answer.left[0].why


def test_every_kind_of_ending_is_among_the_cases() -> None:
    ends = Counter(
        simulate(load_text(source(case), f"d{suffix(case)}").program, script_of(case["script"]))
        .log[-1]
        .name
        for case in SAMPLED_CASES
    )
    assert ends["run.done"] > 20
    assert ends["run.failed"] > 20
