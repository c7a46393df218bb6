"""A migrated playbook runs as the original did: same visits, delays, ctx and error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.values import Object
from tests.languages.documents import RETRY_CONDITIONS

CASES = [
    case
    for name in ("playbook", "files")
    for case in json.loads((Path(__file__).parents[1] / "conformance" / f"{name}.json").read_text())
]
KEYS = ("status", "visits", "attempts", "delays", "elapsed", "ctx", "error", "handled")
BROKEN = {
    "error": {"kind": "server_error", "message": "Timeout: rate limit, out of memory"},
    "http": {"status": 503, "headers": {}},
}
FINE = {
    "result": {"status_code": 200, "data": {"word": "Yes"}},
    "http": {"status": 200, "headers": {}},
}
WORDS = ["{{ error }}", "{{ data.word }}", "{{ success }}", "{{ attempt }}", "{{ result }}", "true"]
SCRIPTS: list[list[Object]] = [
    [BROKEN],
    [FINE],
    [BROKEN, FINE],
    [FINE, BROKEN],
    [{"error": {"kind": "connection", "message": "yes"}}, {"result": "1"}],
]


# Conditions and values that read the status of an `eval` task in every way.
STATUSES = [
    "outcome.status == 'success'",
    "outcome['status'] != 'success'",
    "outcome.status == 'ok'",
    "outcome.status in ['success', 'x']",
    "outcome.status not in ['ok']",
    "outcome.status in ('success', 'x')",
    "outcome.status in 'success'",
    "(outcome.status | upper) == 'SUCCESS'",
    "outcome.status.upper() == 'SUCCESS'",
    "outcome.status == workload.w",
    "outcome.status ~ '!' == 'success!'",
    "outcome.status is eq('success')",
    "'y' if outcome.status == 'success' else ''",
    "outcome.status == 'success' == true",
    "outcome.status",
]
# The same for `output`, with a `ctx` that reads the workload.
OUTPUTS = [
    "output",
    "output | tojson",
    "output.get('data')",
    "output.data",
    "output['data'].data",
    "output.result",
    "output is defined",
    "output.status == 'ok'",
    "ctx.w",
    "ctx['w']",
    "ctx.asked",
    "ctx['free']",
]
# What conditions of the other dialects read of `output`.
ENVELOPES = [
    "output.status == 'ok'",
    "output.status == 'error' and not output.response",
    "output.http.status == 503",
    "output.error.kind == 'server_error'",
    "output.data.data.word == 'Yes'",
    "output['response'].data.word == 'Yes'",
    "output.status == 'ok' and outcome.status != 'ok'",
]
RESULTS = [
    "data == result",
    "data != None",
    "result is none",
    "result == None",
    "data | default('x') == 'x'",
    "result.data.word == 'Yes'",
    "success and\\n  not result",
]


def run(text: str, script: Object) -> Object:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    report = simulate(loaded.program, script_of(script)).report()
    return {key: report[key] for key in KEYS}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_conformance_case_runs_the_same_after_migration(case: Object) -> None:
    migrated = migrate(case["yaml"], "f.yaml")
    assert migrated.findings == []
    assert run(migrated.text, case["script"]) == run(case["yaml"], case["script"])


@pytest.mark.parametrize("outcomes", SCRIPTS)
@pytest.mark.parametrize("condition", [*RETRY_CONDITIONS, *WORDS])
@pytest.mark.parametrize("key", ["retry_when", "stop_when"])
def test_a_retry_condition_holds_where_it_held(
    key: str, condition: str, outcomes: list[Object]
) -> None:
    text = (
        "workflow:\n- step: a\n  tool: http\n  url: u\n"
        f'  retry: {{max_attempts: 4, backoff_multiplier: 3, {key}: "{condition}"}}\n'
    )
    script = {"outcomes": {"a": outcomes}, "random": 0.25}
    assert run(migrate(text, "f.yaml").text, script) == run(text, script)


def agree(text: str, outcomes: list[Object]) -> None:
    script = {"outcomes": {"a": outcomes}, "random": 0.25, "workload": {"asked": 7}}
    assert run(migrate(text, "f.yaml").text, script) == run(text, script)


@pytest.mark.parametrize("outcomes", SCRIPTS)
@pytest.mark.parametrize("condition", RESULTS)
@pytest.mark.parametrize("key", ["retry_when", "stop_when"])
def test_a_missing_result_is_null_in_a_retry_condition(
    key: str, condition: str, outcomes: list[Object]
) -> None:
    block = f'{{max_attempts: 2, {key}: "{{{{ {condition} }}}}"}}'
    agree(f"workflow:\n- step: a\n  tool: http\n  url: u\n  retry: {block}\n", outcomes)


@pytest.mark.parametrize("outcomes", SCRIPTS)
@pytest.mark.parametrize("condition", ENVELOPES)
@pytest.mark.parametrize(
    "step",
    [
        "tool: {{kind: noop, retry: {{max_attempts: 3, retry_when: {0}}}}}",
        "tool: {{kind: noop, retry: {{max_attempts: 3, stop_when: {0}}}}}",
        "tool: {{kind: noop, eval: [{{expr: {0}, do: break, set_ctx: {{s: {0}}}}}]}}",
    ],
)
def test_output_is_migrated_in_every_dialect(
    step: str, condition: str, outcomes: list[Object]
) -> None:
    written = step.format(f'"{{{{ {condition} }}}}"')
    text = f"workflow:\n- step: a\n  {written}\n"
    migrated = migrate(text, "f.yaml")
    assert "output" not in migrated.text
    assert migrated.findings == []
    agree(text, outcomes)


@pytest.mark.parametrize("outcomes", SCRIPTS)
@pytest.mark.parametrize("expression", STATUSES)
def test_the_status_of_an_eval_task_reads_as_before(
    expression: str, outcomes: list[Object]
) -> None:
    stored = f'"{{{{ {expression} }}}}"'
    agree(
        "workload: {w: success}\nworkflow:\n- step: a\n  tool:\n    kind: noop\n    eval:\n"
        f'    - {{expr: "{expression}", do: break, set_ctx: {{s: {stored}}}}}\n'
        f"    - else: {{do: continue, set_ctx: {{v: {stored}}}}}\n",
        outcomes,
    )


@pytest.mark.parametrize("outcomes", SCRIPTS)
@pytest.mark.parametrize("expression", OUTPUTS)
def test_what_an_output_task_reads_is_the_same(expression: str, outcomes: list[Object]) -> None:
    stored = f'"{{{{ {expression} }}}}"'
    agree(
        "workload: {w: 1, free: 3}\nworkflow:\n- step: a\n  tool:\n    kind: noop\n    spec:\n"
        "      policy:\n        rules:\n"
        f'        - {{when: "{expression}", then: {{set: {{ctx.v: {stored}, ctx.w: 2, ctx.asked: 4}}}}}}\n'
        f"        - else: {{set: {{ctx.u: {stored}}}}}\n"
        "  next: [{step: b, when: \"{{ ctx['free'] == 3 and ctx.w }}\"}]\n"
        "- step: b\n  input: {x: '{{ ctx.free }}'}\n"
        "  tool: {kind: python, code: x, set: {ctx.t: '{{ args.x }}{{ output.data.data }}'}}\n",
        outcomes,
    )


@pytest.mark.parametrize(
    "step",
    [
        "eval: [{else: {do: fail}}]",
        "set: {ctx.x: 1}",
        "tool: {kind: noop, set: {ctx.x: 1}, eval: [{else: {set: {ctx.x: 2}, set_ctx: {x: 3}}}]}",
        "tool: {kind: noop, spec: {policy: {rules: [{then: {set_ctx: {x: 1}}}]}}}",
        "tool: {kind: noop, spec: {policy: {rules: "
        "[{when: outcome.status, then: {do: retry, on_exhausted: break}}]}}}",
        "tool: {kind: noop}, spec: {policy: {admit: {rules: [{allow: false}]}}}",
    ],
)
@pytest.mark.parametrize("outcomes", SCRIPTS)
def test_a_step_in_a_looser_spelling_runs_the_same(step: str, outcomes: list[Object]) -> None:
    agree(f"workflow:\n- {{step: a, {step}}}\n", outcomes)
