"""What is written and would be ignored is said, each thing once."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook

STEP = "workflow:\n- step: a\n"
RULES = STEP + "  tool: [{t: {kind: noop, spec: {policy: {rules: [%s, {else: {then: {}}}]}}}}]\n"


def found_in(text: str) -> list[str]:
    return [found.rule for found in load_playbook(text, "f.yaml").findings]


IGNORED = [
    (RULES % "{when: outcome.error, then: {do: fail}, do: retry}", "key.unused"),
    (RULES % "{when: outcome.error, expr: outcome.ok, do: fail}", "key.unused"),
    (RULES % "{when: outcome.error, then: {attempts: 3}}", "key.unused"),
    (RULES % "{when: '', then: {do: fail}}", "condition.empty"),
    (STEP + "  type: http\n  tool: {kind: noop}\n", "key.unused"),
    (STEP + "  tool: {kind: noop}\n  args: x\n", "value.type"),
    (STEP + "  tool: {kind: noop}\n  args: {}\n  with: {}\n", "tool.input-twice"),
    (STEP + "  tool: {kind: http, url: u, spec: {timeout: {conect: 1}}}\n", "key.unknown"),
    (STEP + "  tool: {kind: python, code: x, spec: {timeout: {connect: 1}}}\n", "key.unused"),
    (STEP + "  tool: {kind: sleep, seconds: -1}\n", "tool.input"),
    (STEP + "  tool: {kind: http, url: [u]}\n", "tool.input"),
    ("keychain: [{}]\n" + STEP, "keychain.name"),
    ("executor: {spec: {no_next_is_error: true}}\n" + STEP, "key.without-effect"),
    (STEP + "  loop: {in: [1], iterator: index}\n", "loop.iterator"),
    ("tracing: {enabled: true}\n" + STEP, "key.without-effect"),
    ("executor: {tracing: {}}\n" + STEP, "key.without-effect"),
    ("executor: {spec: {tracing: {}}}\n" + STEP, "key.without-effect"),
    ("executor: {spec: {policy: {tracing: {}}}}\n" + STEP, "key.without-effect"),
    (STEP + "  spec: {tracing: {}}\n", "key.without-effect"),
    (STEP + "  tool: {kind: noop, tracing: {}}\n", "key.without-effect"),
    (STEP + "  tool: {kind: noop, spec: {tracing: {}}}\n", "key.without-effect"),
    ("executor: {spec: {policy: {defaults: {timeout_s: 9}}}}\n" + STEP, "key.without-effect"),
    ("executor: {spec: {policy: {results: {x: 1}}}}\n" + STEP, "key.without-effect"),
    (STEP + "  spec: {policy: {admit: {mode: exclusive}}}\n", "key.without-effect"),
    (STEP + "  tool: {kind: noop}\n  output: {store: {kind: kv}}\n", "key.without-effect"),
    (STEP + "  tool: noop\n  output: {store: {kind: kv}}\n", "key.without-effect"),
    (STEP + "  tool: {kind: noop, output_select: [a]}\n", "key.without-effect"),
    (STEP + "  tool: {kind: python, code: x, assert: {returns: [a]}}\n", "key.without-effect"),
    (STEP + "  tool: {kind: sqlite, command: SELECT 1, pool: {}}\n", "key.without-effect"),
    (
        STEP + "  loop: {in: [1], iterator: x, spec: {policy: {results: {}}}}\n",
        "key.without-effect",
    ),
]


@pytest.mark.parametrize(("text", "rule"), IGNORED)
def test_a_value_that_would_be_ignored_is_reported(text: str, rule: str) -> None:
    assert found_in(text) == [rule]


@pytest.mark.parametrize("seconds", ["0", "1.5", "2s", "'{{ ctx.wait }}'"])
def test_a_wait_of_any_known_form_is_accepted(seconds: str) -> None:
    assert found_in(f"{STEP}  tool: {{kind: sleep, seconds: {seconds}}}\n") == []


def test_the_arguments_of_a_step_may_be_a_template() -> None:
    tool = "  tool: {kind: python, code: x}\n"
    assert found_in(f"{STEP}{tool}  args: '{{{{ ctx.given }}}}'\n") == []


@pytest.mark.parametrize(
    "tool",
    [
        "{kind: http, url: u, json: {}, body: x}",
        "{kind: http, url: u, payload: {}, form: {}}",
        "{kind: python, code: x, script: y}",
        "{kind: sleep, seconds: 1, until: '12:30'}",
        "{kind: playbook, path: p, file: f}",
    ],
)
def test_inputs_that_exclude_each_other_are_an_error(tool: str) -> None:
    assert found_in(f"{STEP}  tool: {tool}\n") == ["tool.input-twice"]


POST = STEP + "  tool: {kind: http, url: u, method: POST, %s}\n"


@pytest.mark.parametrize("key", ["false", "''", "null", ""])
def test_no_idempotency_key_makes_no_retry_safe(key: str) -> None:
    assert found_in(POST % f"idempotency_key: {key}, retry: true") == ["http.retry-unsafe"]


@pytest.mark.parametrize("header", ["Idempotency-Key", "idempotency-key", "X-Idempotency-Key"])
def test_a_key_among_the_headers_makes_a_retry_safe(header: str) -> None:
    assert found_in(POST % f"headers: {{{header}: k}}, retry: true") == []
    assert found_in(POST % f"headers: {{{header}: ''}}, retry: true") == ["http.retry-unsafe"]


@pytest.mark.parametrize("retry", ["retry: 1", "retry: {max_attempts: 1}"])
def test_a_single_attempt_is_no_retry(retry: str) -> None:
    assert found_in(POST % retry) == []
