"""Which rules are sure to meet every error, and which leave one to chance."""

from __future__ import annotations

import pytest

from anew.engine.outcome import RETRYABLE
from anew.languages.playbook import load_playbook
from anew.languages.playbook.coverage import PROBED
from anew.program.kinds import HELPERS

RULES = (
    "ctx: {stop: false}\nworkflow:\n- step: a\n  tool:\n  - t:\n"
    "      kind: noop\n      spec:\n        policy:\n"
)


def rules_found(*conditions: str) -> list[str]:
    lines = "".join(
        f'          - when: "{condition}"\n            then: {{do: fail}}\n'
        for condition in conditions
    )
    text = f"{RULES}          rules:\n{lines}"
    return [found.rule for found in load_playbook(text, "f.yaml").findings]


COVERING = [
    ("outcome['status'] == 'error'",),
    ("not outcome.status == 'ok'",),
    ("outcome.status not in ['ok']",),
    ("outcome.status in ['error', 'failed']",),
    ("outcome.status == 'error' or ctx.stop",),
    ("1 == 1",),
    ("outcome.error.kind",),
    ("outcome.error is defined",),
    ("{{ output.status == 'error' }}",),
    ("outcome.http.status == 503", "not outcome.http.status == 503"),
    ("outcome.error.retryable", "not outcome.error.retryable"),
    ("_attempt < 3 and outcome.error", "_attempt >= 3 and outcome.error"),
]
LEAVING = [
    ("outcome.status == 'ok'",),
    ("outcome.http.status >= 400",),
    ("outcome.error.retryable",),
    ("outcome.error.kind in ['timeout', 'connection']",),
    ("outcome.error and ctx.stop",),
    ("outcome.error and rand() < 0.5",),
    ("outcome.error and _attempt < 3",),
    ("ctx.stop != true",),
]


@pytest.mark.parametrize("conditions", COVERING)
def test_rules_that_meet_every_error_are_not_warned_of(conditions: tuple[str, ...]) -> None:
    assert rules_found(*conditions) == []


@pytest.mark.parametrize("conditions", LEAVING)
def test_rules_that_leave_an_error_to_chance_are_warned_of(conditions: tuple[str, ...]) -> None:
    assert rules_found(*conditions) == ["policy.error-uncovered"]


def test_a_condition_that_raises_fails_the_task_and_so_covers() -> None:
    assert rules_found("outcome.pg.code.nothing + 1 > 2") == []


_AS_EXPRESSION = "not retryable and without a helper, as expression"
# Kinds that rules are not asked about, and what they are like.
NOT_PROBED = {
    "auth": "not retryable, of an HTTP status, as client_error",
    "db_connection": "retryable, of a database, as db_deadlock",
    "db_timeout": "retryable, of a database, as db_deadlock",
    "db_constraint": "not retryable, of a database, as db_error",
    "failed": _AS_EXPRESSION,
    "config": _AS_EXPRESSION,
    "reference": _AS_EXPRESSION,
    "limit_exceeded": _AS_EXPRESSION,
    "retry_exhausted": _AS_EXPRESSION,
    "no_route": _AS_EXPRESSION,
    "gate_unsatisfied": _AS_EXPRESSION,
    "cancelled": _AS_EXPRESSION,
    "worker_lost": _AS_EXPRESSION,
}


def test_every_error_kind_is_probed_or_excused() -> None:
    probed = [kind for kind, _ in PROBED]
    assert sorted([*probed, *NOT_PROBED]) == sorted(RETRYABLE)


def test_an_error_is_probed_with_helpers_that_tools_have() -> None:
    assert {name for _, helpers in PROBED for name in helpers} <= {*HELPERS, "result"}
