"""Other words of a `retry` block: which errors they retry, and after which delay."""

from __future__ import annotations

from typing import Any

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from tests.languages.schema_documents import validator, value_of
from tests.play import DOWN, play

STEP = 'workflow:\n- step: a\n  tool: {kind: http, url: "http://x", retry: {%s, jitter: false}}\n'
SLOW = {"error": {"kind": "timeout", "message": "timeout"}}
FINE = {"result": {"status_code": 503}, "http": {"status": 503}}


def delays(block: str, *outcomes: Any) -> list[float]:
    """The waits of a run, which must be those of the migrated playbook."""
    text = STEP % block
    assert validator().is_valid(value_of(text))
    migrated = migrate(text, "f.yaml").text or ""
    assert load_playbook(migrated, "f.yaml").strict == []
    first, second = (
        play(one, outcomes={"a": list(outcomes)})["delays"] for one in (text, migrated)
    )
    assert first == second
    return [one["seconds"] for one in first]


@pytest.mark.parametrize(
    ("block", "outcome", "waits"),
    [
        ("max_attempts: 2, retry_on: [timeout, connection_error]", SLOW, [1.0]),
        ("max_attempts: 2, retry_on: [timeout, connection_error]", DOWN, []),
        ("max_attempts: 2, retry_on: timeout", SLOW, [1.0]),
        ("max_attempts: 2, retry_on: [timeout, 503]", DOWN, [1.0]),
        ("max_attempts: 2, retry_on_status: [503]", DOWN, [1.0]),
        ("max_attempts: 2, retry_on_status: [503], retry_on: [timeout]", SLOW, [1.0]),
        ("max_attempts: 2, retry_on_status: [503]", FINE, []),
        ("max_attempts: 3, retry_on: [5xx], backoff: 5", DOWN, [5.0, 10.0]),
        ("max_attempts: 2, backoff_seconds: 2", DOWN, [2.0]),
    ],
)
def test_errors_are_retried_by_what_they_are_called(
    block: str, outcome: Any, waits: list[float]
) -> None:
    assert delays(block, *[outcome] * 4) == waits


@pytest.mark.parametrize(
    ("block", "rule"),
    [
        ("retry_on: [tomorrow]", "rule.shape"),
        ("retry_on_status: [timeout]", "rule.shape"),
        ("retry_on: [timeout], retry_when: x", "tool.input-twice"),
        ("backoff: 3, initial_delay: 2", "tool.input-twice"),
        ("backoff: exponential", "rule.backoff"),
    ],
)
def test_words_that_would_not_be_followed_are_refused(block: str, rule: str) -> None:
    assert rule in {found.rule for found in load_playbook(STEP % block, "f.yaml").findings}
