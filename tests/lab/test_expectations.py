"""What `expect` asks of a simulation, and what it says when it is not met."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.errors import ConfigError
from anew.lab.expectations import EXPECT_KEYS, Observed, checked, difference, unmet
from anew.lab.script import Script
from anew.lab.simulate import simulate
from anew.languages import load_text

REPORT = {
    "language": "playbook",
    "dialect": "policy",
    "status": "failed",
    "visits": ["a", "b", "c", "b"],
    "attempts": {"page": 3, "b": 2},
    "delays": [
        {"task": "page", "attempt": 1, "seconds": 2.0},
        {"task": "page", "attempt": 2, "seconds": 0.5},
    ],
    "elapsed": 2.5,
    "ctx": {"n": 1, "ratio": 0.1 + 0.2, "list": [1, {"k": True}], "deep": {"a": 1, "b": 2}},
    "error": {"kind": "timeout", "message": "too slow", "retry": {"attempts": 3}},
    "unsatisfied": ["b"],
    "result": {"rows": [1, 2], "more": {"x": 1, "y": 2}},
    "handled": ["a"],
    "events": [],
}
SEEN = Observed(REPORT, 1, "    0.000  run  started\n    2.500  run  failed\n")


def messages(**expect: object) -> list[str]:
    return [failure.message for failure in unmet(checked(expect, "f"), SEEN)]


@pytest.mark.parametrize(
    "expect",
    [
        {"status": "failed", "exit_status": 1, "language": "playbook", "dialect": "policy"},
        {"visits": ["a", "b", "c", "b"], "loops": ["b"]},
        {"visits": ["b", "b", "c", "a"], "parallel": True},
        {"branches": [["a", "c"], ["b", "b"], []]},
        {"attempts": {"page": 3, "never": 0}},
        {"delays": [2, 0.5]},
        {"delays": [2.0000005, {"task": "page", "attempt": 2}]},
        {"delays": [0.5, 2], "parallel": True},
        {"delays": [2, {"seconds": 0.5}], "parallel": True},
        {"elapsed": 2.5000001},
        {"ctx": {"n": 1, "ratio": 0.3, "list": [1, {"k": True}]}, "noctx": ["m"]},
        {"error": {"kind": "timeout", "retry": {"attempts": 3}}, "error_kind": "timeout"},
        {"error": {"retry": {"attempts": 3.0}}},
        {"result": {"more": {"y": 2}}, "handled": ["a"], "unsatisfied": ["b"]},
        {"timeline": "0.000  run  started\n2.500  run  failed"},
        {"timeline": "    0.000  run  started\n    2.500  run  failed\n"},
        {},
    ],
)
def test_what_is_expected_and_happened_is_met(expect: dict[str, object]) -> None:
    assert messages(**expect) == []


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ({"status": "done"}, 'status: expected "done", found "failed"'),
        ({"exit_status": 0}, "exit_status: expected 0, found 1"),
        ({"visits": ["b", "b", "c", "a"]}, "visits: expected"),
        ({"visits": ["b", "c", "a"], "parallel": True}, "visits: expected"),
        ({"branches": [["c", "a"]]}, "branches[0]: "),
        ({"attempts": {"page": 2}}, "attempts.page: expected 2, found 3"),
        ({"attempts": {"pgae": 3}}, "Did you mean 'page'?"),
        ({"delays": [0.5, 2]}, "delays: expected [0.5, 2], found [2.0, 0.5]"),
        ({"delays": [2]}, "delays: expected [2], found [2.0, 0.5]"),
        ({"delays": [2, 0.5, 1]}, "delays: expected"),
        ({"delays": [2, {"attempt": 3}]}, "delays: expected"),
        ({"elapsed": 2.500002}, "elapsed: expected 2.500002, found 2.5"),
        ({"ctx": {"n": 1.0}}, "ctx.n: expected 1.0, found 1"),
        ({"ctx": {"n": True}}, "ctx.n: expected true, found 1"),
        ({"ctx": {"deep": {"a": 1}}}, "ctx.deep: expected"),
        ({"ctx": {"m": None}}, "ctx.m: expected null, but nothing was written there"),
        ({"noctx": ["n"]}, "noctx: ctx.n should not be there, and is 1"),
        ({"error": None}, "error: expected null"),
        ({"error": {"retry": {"attempts": 2}}}, "error.retry.attempts: expected 2, found 3"),
        ({"error": {"code": 1}}, "error.code: expected 1, but it is not there"),
        ({"error_kind": "auth"}, 'error_kind: expected "auth", found "timeout"'),
        ({"result": {"rows": [1]}}, "result.rows: expected [1], found [1, 2]"),
        ({"result": None}, "result: expected null"),
        ({"handled": []}, "handled: expected []"),
        ({"unsatisfied": []}, "unsatisfied: expected []"),
        ({"dialect": "eval"}, "dialect: expected"),
        ({"timeline": "0.000  run  started"}, "timeline: another one from line 2 on"),
    ],
)
def test_what_is_not_met_is_told(expect: dict[str, object], told: str) -> None:
    (message,) = messages(**expect)
    assert told in message


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ({"visit": []}, "unknown key 'visit'. Did you mean 'visits'?"),
        ({"zzz": 1}, "Known: status,"),
        ({"status": "finished"}, "expect.status must be one of queued, running"),
        ({"visits": "a"}, "expect.visits must be a list of step names"),
        ({"attempts": {"a": -1}}, "expect.attempts must be"),
        ({"attempts": {"a": True}}, "expect.attempts must be"),
        ({"delays": [{"second": 1}]}, "expect.delays must be"),
        ({"delays": [{"task": "a"}], "parallel": True}, "every delay must say its seconds"),
        ({"ctx": [1]}, "expect.ctx must be a mapping"),
        ({"branches": ["a"]}, "expect.branches must be"),
        ({"parallel": "yes"}, "expect.parallel must be true or false"),
        ({"elapsed": "1s"}, "expect.elapsed must be a number"),
    ],
)
def test_an_expectation_that_cannot_be_is_refused(expect: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        checked(expect, "f.scenario.yaml: expect")
    assert told in str(refused.value)
    assert str(refused.value).startswith("f.scenario.yaml: expect")


def test_every_part_of_a_report_but_its_events_can_be_expected() -> None:
    program = load_text("workflow: [{step: only, tool: {kind: noop}}]", "only.yaml").program
    assert program is not None
    report = simulate(program, Script()).report()
    assert report.keys() - {"events"} <= set(EXPECT_KEYS)
    own = {key: value for key, value in report.items() if key != "events"}
    assert unmet(checked(own, "f"), Observed(report, 0)) == []


def test_a_long_difference_is_shown_part_by_part() -> None:
    visits = [f"step{n}" for n in range(10)]
    (failure,) = unmet(
        {"visits": [*visits[:5], *visits[6:]]}, Observed({**REPORT, "visits": visits}, 0)
    )
    told = difference(failure)
    assert [line for line in told if line[0] in "+-"] == ["--- expected", "+++ found", '+  "step5"']
    (short,) = unmet({"elapsed": 1}, SEEN)
    assert difference(short) == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_a_value_of_ctx_meets_itself_and_nothing_else(one: object, other: object) -> None:
    seen = Observed({**REPORT, "ctx": {"k": one}}, 0)
    assert unmet({"ctx": {"k": one}}, seen) == []
    # The text of JSON tells true from 1.
    is_same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (unmet({"ctx": {"k": other}}, seen) == []) is is_same
