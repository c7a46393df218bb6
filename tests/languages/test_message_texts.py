"""A condition that looks for words in a message is told of the kind that says the same."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook

RETRY = 'workflow:\n- step: a\n  tool: http\n  url: u\n  retry: {retry_when: "%s"}\n'
ARC = 'workflow:\n- step: a\n  next: [{step: a, when: "%s"}]\n'
EVAL = 'workflow:\n- step: a\n  tool: {kind: noop, eval: [{expr: "%s", do: retry}]}\n'


def told(text: str) -> list[str | None]:
    findings = load_playbook(text, "f.yaml").findings
    return [found.suggestion for found in findings if found.rule == "outcome.message-text"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (RETRY % "{{ 'rate limit' in (error|lower) }}", "`outcome.error.kind == 'rate_limit'`"),
        (RETRY % "{{ 'deadlock' in error }}", "`outcome.error.kind == 'db_deadlock'`"),
        (RETRY % "'timeout' not in error", "`outcome.error.kind in ['timeout', 'db_timeout']`"),
        (EVAL % "{{ 'no luck' in outcome.error.message }}", "`outcome.error.kind`"),
        (EVAL % "{{ outcome.error.message == 'deadlock' }}", "`outcome.error.kind == 'db_deadlock'`"),
        (ARC % "{{ 'deadlock' in (event.error.message|lower) }}", "`event.error.kind == 'db_deadlock'`"),
        (RETRY % "{{ error == 'deadlock' }}", "`outcome.error.kind == 'db_deadlock'`"),
        (EVAL % "{{ 'deadlock' == (outcome.error.message|lower) }}", "`outcome.error.kind == 'db_deadlock'`"),
        (EVAL % "{{ outcome.error.message.startswith('rate limit') }}", "`outcome.error.kind == 'rate_limit'`"),
        (EVAL % "{{ (output.error.message|lower).find('timed out') >= 0 }}", "`outcome.error.kind in ['timeout', 'db_timeout']`"),
        (EVAL % "{{ 'deadlock' in (outcome.error|string|lower) }}", "`outcome.error.kind == 'db_deadlock'`"),
        (EVAL % "{{ 'Throttled' in outcome.py.exception }}", "`outcome.error.kind == 'rate_limit'`"),
        (RETRY % "{{ 'HTTP 503' in error }}", "`outcome.http.status == 503` or `outcome.error.kind == 'server_error'`"),
        (ARC % "{{ '404' in event.error.message }}", "`event.error.kind == 'not_found'`"),
    ],
)  # fmt: skip
def test_a_text_looked_for_in_a_message_is_told_with_its_kind(text: str, kind: str) -> None:
    assert told(text) == [f"{kind} is stable, whatever the text says."]


@pytest.mark.parametrize(
    "text",
    [
        RETRY % "{{ error != None }}",
        RETRY % "{{ 'x' in data.items }}",
        EVAL % "{{ outcome.error.kind == 'timeout' }}",
        EVAL % "{{ 'a' in outcome.result.errors }}",
        EVAL % "{{ 'retry' in outcome.error }}",
        EVAL % "{{ outcome.result.error == 'x' }}",
        RETRY % "{{ data.error == 'x' or 'x' in error.list }}",
    ],
)
def test_other_conditions_are_not(text: str) -> None:
    assert told(text) == []
