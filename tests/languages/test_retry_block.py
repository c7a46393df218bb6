"""The `retry` block: its forms, its settings, its bare words, and the jitter of a task."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.program.policy import Retry
from tests.play import play

STEP = "workflow:\n- step: a\n  tool: http\n  url: http://x\n"
DOWN = {"error": {"kind": "server_error"}, "http": {"status": 503}}


def findings(text: str) -> list[tuple[str, str, int]]:
    loaded = load_playbook(text, "f.yaml")
    return [(found.severity.value, found.rule, found.place.column) for found in loaded.findings]


def rules(text: str) -> list[Retry]:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    task = loaded.program.steps["a"].tasks[0]
    return [rule.then for rule in task.policy.rules if isinstance(rule.then, Retry)]


@pytest.mark.parametrize("value", ['"yes"', "2.5", '"{{ 3 }}"', "often"])
def test_a_retry_that_is_no_known_form_is_an_error(value: str) -> None:
    assert findings(f"{STEP}  retry: {value}\n") == [("error", "value.type", 10)]


@pytest.mark.parametrize("value", ["true", "false", "3", '"3"', "{}", ""])
def test_the_known_forms_are_accepted(value: str) -> None:
    assert findings(f"{STEP}  retry: {value}\n") == []


def test_the_settings_of_a_rule_mean_the_same_in_the_block() -> None:
    block = "{max_attempts: 9, initial_delay: 2, jitter: false, %s}"
    elapsed = f"{STEP}  retry: {block % 'max_elapsed: 7'}\n"
    report = play(elapsed, outcomes={"a": [DOWN]})
    assert (report["status"], report["attempts"], [d["seconds"] for d in report["delays"]]) == (
        "failed",
        {"a": 3},
        [2.0, 4.0],
    )
    asked = {**DOWN, "http": {"status": 503, "headers": {"retry-after": "30"}}}
    honoured = f"{STEP}  retry: {block % 'honor_retry_after: true'}\n"
    assert play(honoured, outcomes={"a": [asked, {}]})["delays"][0]["seconds"] == 30.0


@pytest.mark.parametrize("outcome", [DOWN, {"result": {"state": "open"}}])
def test_what_follows_spent_attempts_is_the_same_for_errors_and_results(outcome: object) -> None:
    spent = (
        "{max_attempts: 2, retry_when: 'yes', on_exhausted: {do: continue, set_ctx: {late: true}}}"
    )
    report = play(f"{STEP}  retry: {spent}\n", outcomes={"a": [outcome]})
    assert (report["status"], report["ctx"]) == ("done", {"late": True})


@pytest.mark.parametrize(
    ("word", "attempts"),
    [("'yes'", 2), ("'YES'", 2), ("'1'", 2), ("1", 2), ("true", 2), ("'no'", 1), ("0", 1), ("'False'", 1)],
)  # fmt: skip
def test_a_bare_word_is_true_or_false_in_a_retry_condition(word: str, attempts: int) -> None:
    text = f"{STEP}  retry: {{max_attempts: 2, initial_delay: 0, retry_when: {word}}}\n"
    assert not any(rule.startswith("name.") for _, rule, _ in findings(text))
    for document in (text, migrate(text, "f.yaml").text):
        assert play(document, outcomes={"a": [DOWN]})["attempts"] == {"a": attempts}


def test_a_bare_word_is_a_name_elsewhere() -> None:
    rule = '{when: "yes", then: {do: retry}}'
    text = f"workflow:\n- step: a\n  tool: {{kind: noop, spec: {{policy: {{rules: [{rule}]}}}}}}\n"
    assert ("warning", "name.unknown") in [found[:2] for found in findings(text)]


JITTER = "workflow:\n- step: a\n  tool: {kind: noop, spec: {jitter: full}, %s}\n"


@pytest.mark.parametrize(
    ("policy", "kinds"),
    [
        ("retry: true", ["full"]),
        ("retry: {jitter: false}", ["none"]),
        ("eval: [{expr: 'true', do: retry}, {else: {do: retry, jitter: equal}}]", ["full", "equal"]),
    ],
)  # fmt: skip
def test_the_jitter_of_a_task_is_that_of_its_rules_that_name_none(
    policy: str, kinds: list[str]
) -> None:
    text = JITTER % policy
    assert [rule.backoff.jitter.kind.value for rule in rules(text)] == kinds
    canonical = migrate(text, "f.yaml").text
    assert [rule.backoff.jitter.kind.value for rule in rules(canonical)] == kinds
    assert "spec: {jitter" not in canonical


def test_a_jitter_that_no_rule_has_is_told() -> None:
    assert ("warning", "key.unused") in [f[:2] for f in findings(JITTER % "desc: none")]
    assert ("warning", "key.unused") in [f[:2] for f in findings(JITTER % "retry: {jitter: 1}")]


def test_a_failure_is_told_in_the_words_of_the_block() -> None:
    block = '{retry_when: "{{ status_code == 1 }}", stop_when: "{{ status_code == 2 }}"}'
    report = play(f"{STEP}  retry: {block}\n", outcomes={"a": [DOWN]})
    (decided,) = [row for row in report["events"] if row["name"] == "task.processed"]
    assert decided["data"]["rule_name"] == "retry_when: false, stop_when: false"
    broken = f'{STEP}  retry: {{retry_when: "{{{{ 1 / 0 }}}}"}}\n'
    assert play(broken, outcomes={"a": [DOWN]})["error"]["message"].startswith("retry_when of a: ")
