"""What makes a log's answer doubtful, what is left out, and what differs besides policies."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from anew.engine import events as e
from anew.errors import ConfigError
from anew.lab.script import script_of
from anew.lab.whatif import PastRun, whatif
from anew.lab.whatif.analysis import SAMPLES_MIN
from anew.lab.whatif.changes import changed_policies, longer_timeouts, other_changes
from tests.example_world import LabThread, really_run
from tests.lab.whatif.worlds import DOWN, FINE, compiled, failing, past, retrying
from tests.views.graphs import RACE, RACED, drawn

FLOW = """
metadata: {name: flow}
workload: {size: 10}
workflow:
- step: a
  tool:
  - one: {kind: noop, result: 1}
  - two: {kind: noop, result: "{{ workload.size }}", spec: {timeout: 5}}
  next: b
- step: b
  tool: {kind: noop}
"""


def changed(*pairs: tuple[str, str]):
    text = FLOW
    for was, now in pairs:
        assert was in text
        text = text.replace(was, now)
    return compiled(text)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([("result: 1}", "result: 2}")], ["task one of a has other inputs"]),
        ([("one: {kind: noop", "one: {kind: sleep, seconds: 1")], ["task one of a has another tool", "task one of a has other inputs"]),
        ([("timeout: 5", "timeout: 9")], ["task two of a has another timeout"]),
        ([("size: 10", "size: 20")], ["the defaults of the input changed"]),
        ([("  next: b\n", "")], ["step a: its arcs changed"]),
        ([("step: b", "step: c"), ("next: b", "next: c")], ["step b is gone", "step a: its arcs changed", "step c is new"]),
        ([("next: b", "spec: {visits_max: 3}\n  next: b")], ["step a: its limit of visits changed"]),
        ([("workload:", "executor: {spec: {ctx: workload}}\nworkload:")], ["how ctx starts changed"]),
        ([("one: {", "zero: {")], ["task one of a is gone", "task zero of a is new"]),
    ],
)  # fmt: skip
def test_what_differs_besides_policies_is_said(pairs, said) -> None:
    assert list(other_changes(compiled(FLOW), changed(*pairs))) == said


def test_another_policy_is_no_other_change_wherever_it_stands() -> None:
    more = changed(
        (
            "result: 1}",
            'result: 1, spec: {policy: {rules: [{when: "_attempt < 2", then: {do: retry}}]}}}',
        )
    )
    moved = compiled("# a line more\n" + FLOW)
    assert list(other_changes(compiled(FLOW), more)) == []
    assert changed_policies(compiled(FLOW), more) == [("a", "one")]
    assert changed_policies(compiled(FLOW), moved) == []


def test_more_time_is_a_longer_timeout_or_none() -> None:
    old = compiled(FLOW)
    assert longer_timeouts(old, changed(("timeout: 5", "timeout: 9"))) == {("a", "two")}
    assert longer_timeouts(old, changed((", spec: {timeout: 5}", ""))) == {("a", "two")}
    assert longer_timeouts(old, changed(("timeout: 5", "timeout: 4"))) == frozenset()
    # Without one the tool has its own, which may be less.
    untimed = changed((", spec: {timeout: 5}", ""))
    assert longer_timeouts(untimed, old) == {("a", "two")}


CALLS = FLOW.replace("noop, result: 1}", "shell, command: x}").replace(
    'noop, result: "{{ workload.size }}"', 'shell, command: "{{ workload.size }}"'
)


def test_an_answer_to_other_inputs_is_counted_and_not_certain() -> None:
    runs = past(compiled(CALLS), [script_of({})] * 3)
    answer = whatif(runs, compiled(CALLS.replace("command: x", "command: y")))
    assert {name: number for name, number in answer.doubts.items() if number} == {"inputs": 3}
    assert (answer.decided, answer.certain) == (3, 0)


def test_a_changed_default_counts_where_the_request_left_it() -> None:
    """The task `two` is given workload.size: one run was asked for with a size of its own."""
    runs = past(compiled(CALLS), [script_of({}), script_of({"workload": {"size": 7}})])
    answer = whatif(runs, compiled(CALLS.replace("size: 10", "size: 20")))
    assert answer.doubts["inputs"] == 1
    assert [one.is_certain for one in answer.runs] == [False, True]


def test_what_a_tool_gives_by_itself_is_no_answer_of_the_log() -> None:
    """A noop gives its result, whatever the log says of another one."""
    routed = """
metadata: {name: flow}
workload: {region: eu}
workflow:
- step: shape
  tool: {kind: noop, result: {region: "{{ workload.region }}"}}
  next: [{step: eu, when: "{{ shape.region == 'eu' }}"}, {step: us, when: "{{ shape.region == 'us' }}"}]
- {step: eu, tool: {kind: noop}}
- {step: us, tool: {kind: shell, command: x}}
"""
    here = script_of({"outcomes": {"shape": [{"result": {"region": "eu"}}]}})
    runs = past(compiled(routed), [here])
    verdict = whatif(runs, compiled(routed.replace("region: eu}", "region: us}"))).runs[0]
    assert verdict.reasons == [
        "us attempt 1: no run has an outcome of this task that asked the same"
    ]


def test_a_tool_that_needs_no_world_needs_no_model() -> None:
    """Six runs came to the noop; the seventh has another input, and never came there."""
    flow = """
metadata: {name: flow}
workload: {region: eu}
workflow:
- step: get
  tool: {kind: shell, command: x, spec: {policy: {rules: [{when: "outcome.status == 'error'", then: THEN}]}}}
  next: nap
- {step: nap, tool: {kind: sleep, seconds: 90}, next: shape}
- step: shape
  tool: {kind: noop, result: {region: "{{ workload.region }}"}}
  next: [{step: eu, when: "{{ shape.region == 'eu' }}"}]
- {step: eu, tool: {kind: shell, command: y}}
"""
    seen = {"shape": [{"result": {"region": "eu"}}]}
    fine = [script_of({"outcomes": seen})] * 6
    us = script_of({"workload": {"region": "us"}, "outcomes": {"get": [DOWN]}})
    old, new = (compiled(flow.replace("THEN", then)) for then in ("{do: fail}", "{do: continue}"))
    verdict = whatif(past(old, [*fine, us]), new).runs[-1]
    assert (verdict.was, verdict.plays[0].status, verdict.is_certain) == ("failed", "done", True)
    assert verdict.plays[0].figures.calls == {
        ("get", "get"): 1,
        ("nap", "nap"): 1,
        ("shape", "shape"): 1,
    }
    assert verdict.plays[0].figures.elapsed == pytest.approx(90.5)


def test_a_noop_that_a_simulation_made_fail_stands_for_something_else() -> None:
    flow = "workflow: [{step: a, tool: {kind: noop, spec: {policy: {rules: [{when: \"outcome.status == 'error'\", then: {do: retry, attempts: N}}]}}}}]"
    two, three = (compiled(flow.replace("N", n)) for n in "23")
    answer = whatif(past(two, [script_of({"outcomes": {"a": [DOWN]}})]), three)
    assert not answer.runs[0].is_decided
    assert [(rate.successes, rate.observations) for rate in answer.rates] == [(0, 1)]


def test_a_timeout_that_is_longer_now_makes_a_recorded_timeout_doubtful() -> None:
    slow = script_of({"outcomes": {"two": [{"takes": 30}]}})
    runs = past(compiled(FLOW), [slow])
    assert runs[0].log[-1].name == "run.failed"
    longer, shorter = (whatif(runs, changed(("timeout: 5", f"timeout: {n}"))) for n in (9, 3))
    assert (longer.doubts["timeout"], shorter.doubts["timeout"]) == (1, 0)
    assert (longer.certain, shorter.certain) == (0, 1)


def test_draws_the_log_does_not_have_are_counted_and_may_make_a_run_uncertain() -> None:
    old = retrying("{do: retry, attempts: 2, delay: 10}")
    full = retrying("{do: retry, attempts: 2, delay: 10, jitter: full}")
    answer = whatif(past(old, [failing(1)]), full, samples=30)
    assert answer.drawn == 1
    assert (answer.runs[0].is_decided, answer.runs[0].is_certain) == (True, False)
    assert answer.extra(lambda figures: figures.waiting).low < -5
    limited = retrying("{do: retry, attempts: 2, delay: 10, jitter: full, max_elapsed: 5}")
    unsure = whatif(past(old, [failing(1)]), limited, samples=30).runs[0]
    assert not unsure.is_certain
    assert 0.2 < unsure.share("done") < 0.8


def test_what_is_rare_by_chance_is_not_decided_whatever_the_seed() -> None:
    """Only the last hundredth of the draws is too late: samples may all miss it."""
    old = retrying("{do: retry, attempts: 2, delay: 10}")
    late = retrying("{do: retry, attempts: 2, delay: 10, jitter: full, max_elapsed: 10.4}")
    for seed in range(5):
        answer = whatif(past(old, [failing(1)]), late, samples=1, seed=seed)
        assert answer.samples == SAMPLES_MIN
        assert not answer.runs[0].is_decided
        assert answer.is_worse


def test_the_draw_of_the_same_decision_is_drawn_again_after_others_were_added() -> None:
    def two_steps(first):
        rule = "{{when: \"outcome.status == 'error'\", then: {{do: retry, attempts: {}, delay: 10, jitter: full}}}}"
        steps = [
            f"{{step: {name}, tool: {{kind: shell, command: x, spec: {{policy: {{rules: [{rule.format(n)}]}}}}}}, next: {after}}}"
            for name, n, after in (("a", first, "b"), ("b", 3, "c"))
        ]
        return compiled(f"workflow: [{', '.join(steps)}, {{step: c, tool: {{kind: noop}}}}]")

    outcomes = {"a": [DOWN, DOWN, FINE], "b": [DOWN, FINE]}
    script = script_of({"outcomes": outcomes, "random": {"draws": [0.1, 0.2, 0.9]}})
    answer = whatif(past(two_steps(3), [script]), two_steps(4))
    assert answer.drawn == 0
    assert answer.runs[0].plays[0].figures.waiting == pytest.approx(12)


def test_only_runs_that_ended_by_themselves_count() -> None:
    program = retrying("{do: retry, attempts: 2, delay: 1}")
    (run,) = past(program, [failing(1)])
    begun = replace(run, log=run.log[:6])
    cancelled = replace(run, run="2", log=[*run.log[:6], e.RunCancelled(seq=7)])
    answer = whatif([begun, cancelled], program)
    assert [one.why for one in answer.left] == ["it has not ended", "someone cancelled it"]
    assert answer.runs == []
    assert answer.report()["runs"] == 0


def test_each_past_run_has_an_id_of_its_own() -> None:
    (run,) = past(retrying("{do: fail}"), [failing(0)])
    with pytest.raises(ConfigError, match="the same id"):
        whatif([run, run], run.program)


def test_a_log_its_own_program_does_not_derive_is_left_out() -> None:
    (run,) = past(retrying("{do: retry, attempts: 3, delay: 1}"), [failing(2)])
    strange = PastRun("1", retrying("{do: retry, attempts: 3, delay: 2}"), run.log)
    answer = whatif([strange], run.program)
    assert "differs at seq" in answer.left[0].why


def test_an_answer_of_a_person_that_no_log_has_is_unknown() -> None:
    asks = compiled("workflow: [{step: a, tool: {kind: human, question: Go on?}}]")
    (run,) = past(
        compiled(
            "workflow: [{step: a, tool: {kind: noop}, next: b}, {step: b, tool: {kind: noop}}]"
        ),
        [script_of({})],
    )
    answer = whatif([run], asks)
    assert answer.runs[0].reasons == ["a attempt 1: the log has no answer of a person"]


def test_a_call_that_was_stopped_has_no_end() -> None:
    run = drawn(RACE, outcomes=RACED)
    patient = compiled(RACE.replace("first_success", "wait_all"), "g.dot")
    answer = whatif([PastRun("1", run.program, run.log)], patient)
    assert answer.runs[0].reasons == ["it would wait for a call whose end the log does not have"]


@pytest.mark.parametrize(
    "name",
    ["children/parent", "graphs/parallel/first_success", "graphs/failures/retry_target",
     "graphs/people/branches", "signals/payment.early", "people/review"],
)  # fmt: skip
def test_a_run_that_really_ran_is_played_again_to_the_moment(name, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with LabThread() as lab:
        real = really_run(name, tmp_path / ".anew", lab_url=lab.url)
    answer = whatif([PastRun("1", real.program, real.log)], real.program)
    assert answer.left == []
    (verdict,) = answer.runs
    assert verdict.is_certain
    assert verdict.departs is None
    took = (real.log[-1].at - real.log[0].at) / 1e9
    assert verdict.before.elapsed == pytest.approx(took, abs=0.05)
