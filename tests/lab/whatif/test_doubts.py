"""What makes a log's answer doubtful, what is left out, and what differs besides policies."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from anew.engine import events as e
from anew.errors import ConfigError
from anew.lab.script import script_of
from anew.lab.whatif import PastRun, whatif
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
        ([("size: 10", "size: 20")], ["the defaults of the workload changed"]),
        ([("  next: b\n", "")], ["step a: its arcs changed"]),
        ([("step: b", "step: c"), ("next: b", "next: c")], ["step b is gone", "step a: its arcs changed", "step c is new"]),
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


def test_an_answer_to_other_inputs_is_counted() -> None:
    old = compiled(FLOW)
    runs = past(old, [script_of({})] * 3)
    answer = whatif(runs, changed(("result: 1}", "result: 2}")))
    assert answer.doubts == {"inputs": 3, "kind": 0, "timeout": 0}
    assert all(one.is_certain for one in answer.runs)


def test_a_changed_default_counts_where_the_request_left_it() -> None:
    """The task `two` is given workload.size: one run was asked for with a size of its own."""
    runs = past(compiled(FLOW), [script_of({}), script_of({"workload": {"size": 7}})])
    assert whatif(runs, changed(("size: 10", "size: 20"))).doubts["inputs"] == 1


def test_a_timeout_that_is_longer_now_makes_a_recorded_timeout_doubtful() -> None:
    slow = script_of({"outcomes": {"two": [{"takes": 30}]}})
    runs = past(compiled(FLOW), [slow])
    assert runs[0].log[-1].name == "run.failed"
    assert whatif(runs, changed(("timeout: 5", "timeout: 9"))).doubts["timeout"] == 1
    assert whatif(runs, changed(("timeout: 5", "timeout: 3"))).doubts["timeout"] == 0


def test_draws_the_log_does_not_have_are_counted_and_may_make_a_run_uncertain() -> None:
    old = retrying("{do: retry, attempts: 2, delay: 10}")
    full = retrying("{do: retry, attempts: 2, delay: 10, jitter: full}")
    answer = whatif(past(old, [failing(1)]), full, samples=30)
    assert answer.drawn == 1
    assert answer.runs[0].is_certain
    assert answer.extra(lambda figures: figures.waiting).low < -5
    limited = retrying("{do: retry, attempts: 2, delay: 10, jitter: full, max_elapsed: 5}")
    unsure = whatif(past(old, [failing(1)]), limited, samples=30).runs[0]
    assert not unsure.is_certain
    assert 0.2 < unsure.share("done") < 0.8


def test_the_draw_of_the_same_decision_is_drawn_again_after_others_were_added() -> None:
    def two_steps(first):
        rule = "{{when: \"outcome.status == 'error'\", then: {{do: retry, attempts: {}, delay: 10, jitter: full}}}}"
        steps = [
            f"{{step: {name}, tool: {{kind: noop, spec: {{policy: {{rules: [{rule.format(n)}]}}}}}}, next: {after}}}"
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
