"""A log's answer is one of its moment: asked sooner or later, or waited for longer, it is in doubt."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anew.lab.script import script_of
from anew.lab.whatif import whatif
from anew.lab.whatif.comparability import SAME_MOMENT_SHARE
from tests.lab.whatif.worlds import DOWN, FINE, compiled, failing, graph, past, retrying


def told(answer):
    return {name: number for name, number in answer.doubts.items() if number}


@pytest.mark.parametrize(
    ("then", "doubts"),
    [
        ("{do: retry, attempts: 3, delay: 0.3}", {}),
        ("{do: retry, attempts: 3, delay: 0.35}", {}),
        ("{do: retry, attempts: 3, delay: 3600}", {"later": 2}),
        ("{do: retry, attempts: 3, backoff: none}", {"sooner": 2}),
        ("{do: retry, attempts: 3, backoff: exponential, delay: 0.3}", {"later": 1}),
        ("{do: fail}", {}),
    ],
)
def test_another_delay_makes_the_answers_after_it_doubtful(then, doubts) -> None:
    old = retrying("{do: retry, attempts: 3, delay: 0.3}")
    answer = whatif(past(old, [failing(2)]), retrying(then))
    assert told(answer) == doubts
    (verdict,) = answer.runs
    assert (verdict.is_decided, verdict.is_certain) == (True, not doubts)
    assert answer.report()["supposed"] == bool(doubts)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 100), st.floats(0, 100))
def test_moments_are_the_same_within_a_tenth(was, now) -> None:
    old, new = (
        retrying(f"{{do: retry, attempts: 2, backoff: fixed, delay: {seconds}}}")
        for seconds in (was, now)
    )
    found = told(whatif(past(old, [failing(1)]), new))
    slack = max(0.1, was * SAME_MOMENT_SHARE)
    if abs(abs(now - was) - slack) > 1e-6:
        assert found == ({} if abs(now - was) < slack else {"sooner" if now < was else "later": 1})


def test_what_a_doubtful_run_becomes_is_told_apart_from_what_is_certain() -> None:
    """The first attempts of the new policy come sooner, and it has fewer of them."""
    old = retrying("{do: retry, attempts: 3, delay: 5}")
    new = retrying("{do: retry, attempts: 2, delay: 1}")
    answer = whatif(past(old, [failing(0), failing(2)]), new)
    assert answer.moved("done", "failed") == []
    assert [one.run for one in answer.supposed("done", "failed")] == ["2"]
    assert answer.report()["broken"]["supposed"] == ["2"]
    assert answer.is_worse


def test_a_retry_by_way_of_another_step_is_asked_at_its_moment_too() -> None:
    runs = past(graph("max_retries=2 retry_backoff=linear retry_target=plan"), [failing(1)])
    new = graph("max_retries=2 retry_backoff=none retry_target=plan")
    assert told(whatif(runs, new)) == {"sooner": 2}


def test_a_shorter_sleep_makes_what_follows_it_sooner() -> None:
    flow = "workflow: [{step: a, tool: {kind: sleep, seconds: N}, next: b}, {step: b, tool: {kind: shell, command: x}}]"
    hour, second = (compiled(flow.replace("N", n)) for n in ("3600", "1"))
    runs = past(hour, [script_of({"outcomes": {"a": [{"takes": 3600}]}})])
    answer = whatif(runs, second)
    assert told(answer) == {"sooner": 1}
    assert answer.runs[0].plays[0].figures.elapsed == pytest.approx(1)


SILENT = {
    "person": "{kind: human, question: ok?, choices: [Y, N], timeout: N}",
    "signal": "{kind: wait, signal: go, timeout: N}",
}


@pytest.mark.parametrize("who", SILENT)
def test_nobody_knows_who_would_have_spoken_after_the_recorded_silence(who) -> None:
    flow = f"workflow: [{{step: a, tool: {SILENT[who]}}}]"
    old, longer, shorter = (
        compiled(flow.replace("timeout: N", f"timeout: {n}")) for n in (20, 7200, 5)
    )
    runs = past(old, [script_of({})])
    assert runs[0].log[-1].name == "run.failed"
    (verdict,) = whatif(runs, longer).runs
    assert verdict.reasons == [f"a waits longer for a {who} than the 20 s the log has"]
    assert whatif(runs, shorter).runs[0].is_certain
    assert whatif(runs, old).runs[0].is_certain


def test_a_run_that_waits_for_ever_now_is_unknown() -> None:
    flow = f"workflow: [{{step: a, tool: {SILENT['person']}}}]"
    runs = past(compiled(flow.replace("timeout: N", "timeout: 20")), [script_of({})])
    (verdict,) = whatif(runs, compiled(flow.replace(", timeout: N", ""))).runs
    assert verdict.reasons == ["it would be waiting when the log ends"]


def test_an_answer_that_came_is_as_good_with_more_time() -> None:
    flow = f"workflow: [{{step: a, tool: {SILENT['person']}}}]"
    said = script_of({"outcomes": {"a": [{"answer": "Y", "takes": 10}]}})
    answer = whatif(
        past(compiled(flow.replace("timeout: N", "timeout: 20")), [said]),
        compiled(flow.replace("timeout: N", "timeout: 60")),
    )
    assert answer.runs[0].plays[0].status == "done"
    assert answer.unknown.mean == 0


def test_first_tries_of_later_steps_are_not_in_doubt() -> None:
    """What follows a step that took longer is asked later, and nobody would call that another moment."""
    flow = "workflow: [{step: a, tool: {kind: shell, command: x, spec: {policy: {rules: [{when: \"outcome.status == 'error'\", then: {do: retry, delay: N}}]}}}, next: b}, {step: b, tool: {kind: shell, command: x}}]"
    old, new = (compiled(flow.replace("N", n)) for n in ("1", "50"))
    runs = past(old, [script_of({"outcomes": {"a": [DOWN, FINE]}})])
    assert told(whatif(runs, new)) == {"later": 1}
