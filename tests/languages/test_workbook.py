"""Tasks of the workbook, and what the tasks that call them take over."""

from __future__ import annotations

import pytest

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.program.policy import Jump, Retry
from anew.program.program import Dialect, Program
from tests.languages.schema_documents import validator, value_of

RETRYING = """\
workbook:
- name: fetch_city
  tool:
    kind: http
    url: "http://x/{{ args.city }}"
    retry: {max_attempts: 4, retry_when: "{{ status_code == 503 }}"}
    timeout: 5
workflow:
- step: a
  tool:
  - call: {kind: workbook, name: NAME, args: {city: Oslo}}
"""


def load(text: str) -> Program:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    return loaded.program


def test_a_call_without_rules_follows_those_of_the_task_it_calls() -> None:
    program = load(RETRYING.replace("NAME", "fetch_city"))
    call, called = program.steps["a"].tasks[0], program.workbook["fetch_city"]
    assert (call.label, call.kind) == ("call", "workbook")
    assert call.policy.rules == called.policy.rules
    assert (call.dialect, call.timeout) == (Dialect.RETRY, 5)
    down = {"error": {"kind": "server_error"}, "http": {"status": 503}}
    ran = simulate(program, script_of({"outcomes": {"call": down}}))
    assert sum(event.name == "task.started" for event in ran.log) == 4


def test_a_call_with_rules_follows_its_own() -> None:
    own = ", retry: 2, timeout: 7}"
    text = RETRYING.replace("NAME", "fetch_city").replace("{city: Oslo}}", "{city: Oslo}" + own)
    (call,) = load(text).steps["a"].tasks
    assert call.timeout == 7
    assert isinstance(call.policy.rules[0].then, Retry)
    assert call.policy.rules[0].then.attempts == 2


def test_a_call_by_a_template_takes_over_nothing() -> None:
    (call,) = load(RETRYING.replace("NAME", '"{{ ctx.which }}"')).steps["a"].tasks
    assert (call.policy.rules, call.timeout) == ((), None)


def test_a_jump_of_a_workbook_task_to_itself_leads_to_the_call() -> None:
    rules = "[{when: ctx.x, then: {do: jump, to: w, delay: 1}}, {else: {then: {do: break}}}]"
    text = (
        f"workbook:\n- name: w\n  tool: {{kind: noop, spec: {{policy: {{rules: {rules}}}}}}}\n"
        "workflow:\n- step: a\n  tool:\n  - call: {kind: workbook, name: w}\n"
    )
    (call,) = load(text).steps["a"].tasks
    assert isinstance(call.policy.rules[0].then, Jump)
    assert call.policy.rules[0].then.to == "call"


def test_a_jump_after_spent_attempts_leads_to_the_call_too() -> None:
    spent = "{do: retry, on_exhausted: {do: jump, to: w}}"
    rules = f"[{{when: ctx.x, then: {spent}}}, {{else: {{then: {{do: break}}}}}}]"
    text = (
        f"workbook:\n- name: w\n  tool: {{kind: noop, spec: {{policy: {{rules: {rules}}}}}}}\n"
        "workflow:\n- step: a\n  tool:\n  - call: {kind: workbook, name: w}\n"
    )
    (call,) = load(text).steps["a"].tasks
    then = call.policy.rules[0].then
    assert isinstance(then, Retry)
    assert then.on_exhausted is not None
    assert then.on_exhausted.then == Jump("call", span=then.on_exhausted.then.span)


def test_an_unknown_name_is_an_error_with_the_one_that_was_meant() -> None:
    (found,) = load_playbook(RETRYING.replace("NAME", "fetch_citi"), "f.yaml").findings
    assert found.rule == "workbook.unknown"
    assert found.suggestion == "Did you mean 'fetch_city'?"


@pytest.mark.parametrize(
    "workbook",
    [
        "[{name: w, type: http, url: u, retry: 2}]",
        "[{name: w, tool: http, url: u, retry: 2}]",
        "{w: {type: http, url: u, retry: 2}}",
        "{tasks: {w: {tool: http, url: u, retry: 2}}}",
    ],
)
def test_a_kind_may_be_a_text_under_tool_or_type(workbook: str) -> None:
    text = f"workbook: {workbook}\nworkflow:\n- {{step: a, tool: {{kind: workbook, name: w}}}}\n"
    migrated = migrate(text, "f.yaml").text
    assert migrated is not None
    assert load_playbook(migrated, "f.yaml").strict == []
    for program in (load(text), load(migrated)):
        task = program.workbook["w"]
        assert (task.kind, task.inputs.source) == ("http", {"url": "u"})
        assert isinstance(task.policy.rules[0].then, Retry)
    assert validator().is_valid(value_of(text))


def test_a_text_for_the_kind_is_reported_where_it_is_unknown() -> None:
    text = "workbook: [{name: w, type: htp}]\nworkflow: [{step: a}]\n"
    assert {found.rule for found in load_playbook(text, "f.yaml").findings} == {"tool.kind"}
    assert not validator().is_valid(value_of(text))
