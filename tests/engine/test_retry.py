"""Every delay of playbook.md#how-long-a-retry-waits, as a table."""

import pytest

from anew.engine.retry import DELAY_SECONDS_MAX
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.weight import problem_of

DOCUMENT = """
workflow:
- step: a
  tool:
  - call:
      kind: http
      url: http://x
      spec: {policy: {rules: [{when: "outcome.status == 'error'", then: {do: retry, RULE}}]}}
"""
DOWN = {"error": {"kind": "server_error", "message": "503"}, "http": {"status": 503}}


def run(rule, *, outcome=DOWN, chance=0.5, now=None):
    loaded = load_text(DOCUMENT.replace("RULE", rule), "a.yaml")
    assert loaded.program, loaded.findings
    said = {"outcomes": {"call": [outcome]}, "random": chance}
    return simulate(loaded.program, script_of({**said, "now": now} if now else said)).report()


def delays(rule, **more):
    return [delay["seconds"] for delay in run(rule, **more)["delays"]]


@pytest.mark.parametrize(
    ("rule", "chance", "expected"),
    [
        ("attempts: 3", 0.5, [0, 0]),
        ("attempts: 3, delay: 2", 0.5, [2, 2]),
        ("attempts: 3, backoff: none, delay: 2", 0.5, [0, 0]),
        ("attempts: 3, backoff: fixed", 0.5, [1, 1]),
        ("attempts: 4, backoff: linear, delay: 2", 0.5, [2, 4, 6]),
        ("attempts: 4, backoff: exponential, delay: 500ms", 0.5, [0.5, 1, 2]),
        ("attempts: 4, backoff: exponential, delay: 4, max_delay: 10", 0.5, [4, 8, 10]),
        ("attempts: 3, delay: 4, jitter: true", 0.0, [2, 2]),
        ("attempts: 3, delay: 4, jitter: true", 1.0, [6, 6]),
        ("attempts: 3, delay: 4, jitter: 0.25", 1.0, [5, 5]),
        ("attempts: 3, delay: 4, jitter: 0.25", 0.0, [4, 4]),
        ("attempts: 3, delay: 4, jitter: full", 0.25, [1, 1]),
        ("attempts: 3, delay: 4, jitter: equal", 0.5, [3, 3]),
        ("attempts: 4, delay: 1, jitter: decorrelated", 1.0, [3, 9, 27]),
        ("attempts: 4, delay: 1, max_delay: 5, jitter: decorrelated", 1.0, [3, 5, 5]),
        ("attempts: 3, backoff: exponential, delay: 4, max_delay: 5, jitter: true", 1.0, [6, 7.5]),
        ("delay: 1m", 0.5, [60, 60]),
    ],
)
def test_the_delay_before_each_attempt(rule, chance, expected):
    assert delays(rule, chance=chance) == pytest.approx(expected)


def throttled(wish):
    return {
        "error": {"kind": "rate_limit", "message": "429"},
        "http": {"status": 429, "headers": {"Retry-After": wish}},
    }


@pytest.mark.parametrize(
    ("rule", "wish", "expected"),
    [
        ("delay: 2, honor_retry_after: true", "7", [7, 7]),
        ("delay: 9, honor_retry_after: true", "7", [9, 9]),
        ("delay: 2, max_delay: 5, honor_retry_after: true", "7", [5, 5]),
        ("delay: 2", "7", [2, 2]),
        ("delay: 2, honor_retry_after: true", "Sat, 01 Jan 2000 00:00:30 GMT", [30, 2]),
        ("delay: 2, honor_retry_after: true", "Fri, 31 Dec 1999 00:00:00 GMT", [2, 2]),
        ("delay: \"{{ outcome.http.headers['retry-after'] }}\"", "3", [3, 3]),
    ],
)
def test_the_server_may_ask_for_more_time(rule, wish, expected):
    assert delays(rule, outcome=throttled(wish)) == pytest.approx(expected)


def test_a_decorrelated_delay_grows_from_what_was_drawn_not_from_the_servers_wish():
    rule = "attempts: 3, delay: 1, jitter: decorrelated, honor_retry_after: true"
    assert delays(rule, outcome=throttled("50"), chance=1.0) == [50, 50]
    assert delays(rule, outcome=throttled("4"), chance=1.0) == [4, 9]


def test_no_attempt_starts_later_than_max_elapsed_after_the_first():
    report = run("attempts: 9, backoff: exponential, delay: 1, max_elapsed: 5")
    assert [d["seconds"] for d in report["delays"]] == [1, 2]
    assert report["error"]["retry"] == {"attempts": 3, "exhausted": True}


@pytest.mark.parametrize("delay", ["{{ 'soon' }}", "{{ 0 - 1 }}", "{{ nothing }}", "{{ true }}"])
def test_what_is_no_delay_fails_the_task(delay):
    assert run(f'delay: "{delay}"')["error"]["kind"] == "expression"


@pytest.mark.parametrize("attempts", ["{{ 0 }}", "{{ 'many' }}", "{{ nothing }}", "{{ 2.5 }}"])
def test_attempts_that_are_no_count_fail_the_task(attempts):
    assert run(f'attempts: "{attempts}"')["error"]["kind"] == "expression"


def test_the_log_keeps_the_whole_decision():
    report = run("backoff: exponential, delay: 4, max_delay: 5, jitter: true", chance=0.25)
    data = next(x["data"] for x in report["events"] if x["name"] == "task.retry_scheduled")
    assert data == {
        "rule": 1,
        "backoff": "exponential",
        "base_seconds": 4.0,
        "jitter": "true",
        "draw": 0.25,
        "cap_seconds": 5.0,
        "retry_after_seconds": None,
        "spread_seconds": 3.0,
        "delay_seconds": 3.0,
        "not_before": "2000-01-01T00:00:03.000000Z",
        "attempts": 3,
        "last_error": "503",
    }


@pytest.mark.parametrize(
    "rule",
    [
        "attempts: 900, delay: 1, jitter: decorrelated",
        "attempts: 4, backoff: linear, delay: 1e308",
        "attempts: 900, backoff: exponential, delay: 1e308, jitter: true",
        "attempts: 3, delay: 1e308, jitter: 1e300",
    ],
)
def test_nothing_endless_reaches_the_log(rule):
    report = run(rule, chance=1.0)
    decisions = [x["data"] for x in report["events"] if x["name"] == "task.retry_scheduled"]
    assert decisions
    for decision in decisions:
        assert problem_of(decision) is None
        assert decision["delay_seconds"] <= DELAY_SECONDS_MAX
