"""The delay of a retry by the kind of its error: `spec.backoff`, in every dialect."""

from typing import Any

import pytest

from tests.play import play, rows

RULES = "{rules: [{when: \"{{ outcome.status == 'error' }}\", then: {do: retry, attempts: 9}}]}"
TABLE = "{rate_limit: 10, default: [1, 5]}"
FAILS = [
    {"error": {"kind": "server_error"}},
    {"error": {"kind": "rate_limit"}},
    {"error": {"kind": "server_error"}},
    {"error": {"kind": "timeout"}},
    {"result": 1},
]


def task(below: str) -> str:
    return f"workflow:\n- step: a\n  tool: {{kind: noop, {below}}}\n"


def decided(document: str, outcomes: object = FAILS) -> list[Any]:
    return rows(play(document, outcomes={"a": outcomes}), "task.retry_scheduled")


def delays(document: str, outcomes: object = FAILS) -> list[float]:
    return [event["data"]["delay_seconds"] for event in decided(document, outcomes)]


@pytest.mark.parametrize(
    "below",
    [
        f"spec: {{backoff: {TABLE}, policy: {RULES}}}",
        f"spec: {{backoff: {TABLE}}}, retry: 9",
        f"spec: {{backoff: {TABLE}}}, eval: [{{expr: \"{{{{ outcome.status == 'error' }}}}\", do: retry, attempts: 9}}]",
        f"spec: {{backoff: {TABLE}, policy: {{rules: [{{when: \"{{{{ output.status == 'error' }}}}\", then: {{do: retry, attempts: 9}}}}]}}}}",
    ],
    ids=["policy", "retry", "eval", "output"],
)
def test_every_dialect_waits_by_the_kind_of_error(below):
    assert delays(task(below)) == [1, 10, 5, 5]


def test_the_log_says_which_row_and_which_entry_gave_the_delay():
    found = decided(task(f"spec: {{backoff: {TABLE}, policy: {RULES}}}"))
    rows = [
        (data["data"].get("backoff_row"), data["data"].get("entry"), data["data"]["backoff"])
        for data in found
    ]
    assert rows == [
        ("default", 1, "table"),
        ("rate_limit", None, "fixed"),
        ("default", 2, "table"),
        ("default", 2, "table"),
    ]


@pytest.mark.parametrize("own", ["delay: 3", "backoff: fixed, delay: 3"])
def test_a_rule_that_names_a_delay_keeps_it(own):
    rules = RULES.replace("attempts: 9", f"attempts: 9, {own}")
    assert delays(task(f"spec: {{backoff: {TABLE}, policy: {RULES[:0]}{rules}}}")) == [3, 3, 3, 3]


def test_a_block_that_names_a_delay_keeps_it():
    block = "{max_attempts: 9, initial_delay: 2, backoff_multiplier: 1, jitter: false}"
    assert delays(task(f"spec: {{backoff: {TABLE}}}, retry: {block}")) == [2, 2, 2, 2]


def test_a_block_has_no_cap_and_no_jitter_but_its_own():
    backoff = "{default: [20s, 5m, 2h]}"
    assert delays(task(f"spec: {{backoff: {backoff}}}, retry: 9")) == [20, 300, 7200, 7200]
    capped = "{max_attempts: 9, max_delay: 60}"
    assert delays(task(f"spec: {{backoff: {backoff}}}, retry: {capped}")) == [20, 60, 60, 60]


def test_a_row_wins_over_what_the_rule_says_of_all():
    backoff = "{rate_limit: {delay: 100, max_delay: 1m}, default: 40}"
    rules = RULES.replace("attempts: 9", "attempts: 9, max_delay: 30")
    assert delays(task(f"spec: {{backoff: {backoff}, policy: {rules}}}")) == [30, 60, 30, 30]


def test_a_row_may_grow_and_be_computed():
    backoff = '{server_error: {kind: linear, delay: 2}, default: "{{ _attempt * 7 }}"}'
    assert delays(task(f"spec: {{backoff: {backoff}, policy: {RULES}}}")) == [2, 14, 6, 28]


def test_an_ok_outcome_waits_by_the_default_row():
    rules = '{rules: [{when: "{{ _attempt < 3 }}", then: {do: retry}}]}'
    assert delays(task(f"spec: {{backoff: {TABLE}, policy: {rules}}}"), {"result": 1}) == [1, 5]
