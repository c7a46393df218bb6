"""Migration keeps the meaning, the comments and everything that needed no change."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.program.policy import Retry, Rule
from anew.program.program import Program, Task
from anew.program.span import NOWHERE
from tests.languages.documents import EVERYTHING, PIPELINE, SEEDS, in_workflow


def load(text: str) -> Program:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    return loaded.program


def directives(rules: tuple[Rule, ...]) -> list[object]:
    """What rules do, without where they stand."""
    return [_without_places(rule) for rule in rules]


def _without_places(rule: Rule) -> object:
    then: object = rule.then
    if isinstance(then, Retry):
        exhausted = then.on_exhausted
        attempts = then.attempts if isinstance(then.attempts, int) else then.attempts.source
        backoff = replace(then.backoff, first=_source(then.backoff.first))
        then = ("retry", attempts, backoff, exhausted.then if exhausted else None)
    return then


def _source(delay: object) -> float:
    return delay if isinstance(delay, float) else hash(str(getattr(delay, "source", "")))


def shape(program: Program) -> object:
    steps = {
        name: (
            [(task.label, task.kind, task.timeout, task.inputs.source) for task in step.tasks],
            step.router.mode,
            [(arc.to, arc.counts_failures, arc.when is None) for arc in step.router.arcs],
            replace(step.loop, span=NOWHERE, source=None) if step.loop else None,  # type: ignore[arg-type]
            [(rule.allow, rule.when is None) for rule in step.admit],
            (step.join, step.failure, step.deadline_seconds),
        )
        for name, step in program.steps.items()
    }
    return steps, program.entry, program.workload, program.limits, program.failure


def tasks_of(program: Program) -> list[Task]:
    return [task for step in program.steps.values() for task in step.tasks]


@pytest.mark.parametrize("text", [EVERYTHING, *SEEDS])
def test_a_migrated_playbook_is_canonical_and_means_the_same(text: str) -> None:
    migrated = migrate(text, "f.yaml")
    again = load_playbook(migrated.text, "f.yaml")
    assert migrated.findings == []
    assert again.strict == []
    before, after = load(text), load(migrated.text)
    assert shape(before) == shape(after)
    for old, new in zip(tasks_of(before), tasks_of(after), strict=True):
        if not old.policy.patches:
            assert directives(old.policy.rules) == directives(new.policy.rules)


@pytest.mark.parametrize("text", [EVERYTHING, *SEEDS])
def test_migrating_twice_changes_nothing(text: str) -> None:
    once = migrate(text, "f.yaml").text
    assert migrate(once, "f.yaml").text == once


def test_a_canonical_playbook_stays_byte_for_byte() -> None:
    text = "# mine\n" + in_workflow(PIPELINE) + "\n# end\n\n"
    assert migrate(text, "f.yaml").text == text


def test_only_what_is_not_canonical_is_rewritten() -> None:
    text = (
        "# head\nmetadata:   {name: x}   # odd spacing\nworkflow:\n\n# first\n- step: a\n"
        "  tool:   {kind: noop}  # kept\n  next: b\n\n# second\n- step: b\n"
        "  tool:   {kind: noop}  # kept too\n# foot\n"
    )
    router = "  next:\n    spec: {mode: exclusive}\n    arcs:\n    - step: b\n"
    assert migrate(text, "f.yaml").text == text.replace("  next: b\n", router)


def test_comments_stay_with_what_they_speak_of() -> None:
    text = (
        "workflow:\n- step: a  # the name\n  # how to fetch\n  tool: http\n  url: u  # where\n"
        "  # patience\n  retry:\n    max_attempts: 5  # enough\n    # servers only\n"
        '    retry_when: "{{ status_code >= 500 }}"\n'
    )
    result = migrate(text, "f.yaml").text
    for comment in (
        "# the name",
        "# how to fetch",
        "# where",
        "# patience",
        "# enough",
        "# servers only",
    ):
        assert result.count(comment) == 1, result
    assert result.index("# how to fetch") < result.index("tool:")
    assert "    url: u  # where\n" in result
    assert result.index("# patience") < result.index("policy:")


def test_a_retry_block_becomes_rules() -> None:
    text = (
        "workflow:\n- step: a\n  tool: http\n  url: u\n  retry:\n    max_attempts: 5\n"
        '    retry_when: "{{ status_code >= 500 or error != None }}"\n'
        "    backoff_multiplier: 3\n    jitter: false\n"
    )
    assert migrate(text, "f.yaml").text == (
        "workflow:\n- step: a\n  tool:\n    kind: http\n    url: u\n    spec:\n      policy:\n"
        "        on_unmatched: fail\n        rules:\n"
        "        - when: \"{{ outcome.status == 'error' and (outcome.http.status >= 500 or "
        '(outcome.error.message | default(none)) != None) }}"\n'
        "          then:\n            do: retry\n            backoff: exponential\n"
        "            attempts: 5\n            delay: 1.0\n            multiplier: 3\n"
        "            max_delay: 60.0\n            jitter: false\n"
        "        - when: \"{{ outcome.status == 'ok' and (outcome.http.status >= 500 or "
        '(outcome.error.message | default(none)) != None) }}"\n'
        "          then:\n            do: retry\n            backoff: exponential\n"
        "            attempts: 5\n            delay: 1.0\n            multiplier: 3\n"
        "            max_delay: 60.0\n            jitter: false\n"
        "            on_exhausted: continue\n"
    )


@pytest.mark.parametrize(
    ("dialect", "before", "after"),
    [
        ("eval", "outcome.status == 'success'", "outcome.status == 'ok'"),
        ("eval", "'success' != outcome.status", "'ok' != outcome.status"),
        ("eval", "outcome.status in ['success', 'x']", "outcome.status in ['ok', 'x']"),
        ("eval", "outcome.result.word == 'success'", "outcome.result.word == 'success'"),
        ("output", "output.status == 'ok'", "outcome.status == 'ok'"),
        ("output", "output.data.data.x", "outcome.result.data.x"),
        ("output", "output['data'].x", "outcome['result'].x"),
        ("output", "output.status and ctx.free", "outcome.status and workload.free"),
        ("output", "output.status and ctx.own", "outcome.status and ctx.own"),
        ("retry", "success", "(outcome.status == 'ok')"),
        (
            "retry",
            "data.error == 'data'",
            "(outcome.result.data | default(outcome.result)).error == 'data'",
        ),
        ("retry", "attempt < 3 and result.x is none", "_attempt < 3 and outcome.result.x is none"),
        (
            "retry",
            "error | default('error') == 'x'",
            "(outcome.error.message | default(none)) | default('error') == 'x'",
        ),
    ],
)
def test_words_of_other_dialects_are_translated(dialect: str, before: str, after: str) -> None:
    task = {
        "eval": f'- t: {{kind: noop, eval: [{{expr: "{before}", do: fail}}]}}',
        "output": (
            f'- t: {{kind: noop, spec: {{policy: {{rules: [{{when: "{before}", then: '
            "{do: fail, set: {ctx.own: 1}}}]}}}"
        ),
        "retry": f'- t: {{kind: noop, retry: {{stop_when: "{before}"}}}}',
    }[dialect]
    result = migrate(f"workflow:\n- step: a\n  tool:\n  {task}\n", "f.yaml").text
    conditions = [
        rule.when.source for rule in load(result).steps["a"].tasks[0].policy.rules if rule.when
    ]
    assert after in conditions[0], result


def test_a_condition_that_may_be_a_word_is_true_for_the_same_words() -> None:
    text = "workflow:\n- {step: a, tool: noop, retry: {retry_when: '{{ result.again }}'}}\n"
    result = migrate(text, "f.yaml").text
    assert "((outcome.result.again) | string | lower) in ['true', '1', 'yes']" in result


@pytest.mark.parametrize(
    "text",
    [
        "workflow: [{step: a, tool: noop, next: b}, {step: b, type: noop}]\n",
        '{"workflow":[{"step":"a","tool":"http","url":"u","next":["b"]},{"step":"b"}]}\n',
        "vars: {x: 1}\nworkflow:\n- step: a\n  tool: {kind: noop}\n",
        "vars:\n  x: 1\n  y: 2\nworkload:\n  x: 3  # mine\n"
        "workflow:\n- step: a\n  tool: {kind: noop}\n",
        "workbook: {w: {kind: noop, eval: [{else: {do: break}}]}}\nworkflow: [{step: a}]\n",
        "workflow:\n- &s\n  step: a\n  tool: noop\n  retry: &r {max_attempts: 4}\n"
        "  next: b\n- step: b\n  tool: noop\n  retry: *r\n",
        "workflow:\r\n- step: a\r\n  tool: noop\r\n  next: b\r\n"
        "- step: b\r\n  tool: {kind: noop}\r\n",
        "workflow:\n- step: a\n  tool: python\n  code: |\n    x = 1\n\n"
        "      # no comment of YAML\n    y = '{{ z }}'\n",
        "workflow:\n  - step: a\n    spec: {timeout: 5, join: each}\n"
        "    type: http\n    url: u\n    when: ctx.x\n",
        "workflow:\n- step: a\n  loop: {in: [1], iterator: i, mode: parallel}\n"
        "  tool: {kind: noop}\n",
        "workflow:\n- step: a\n  tool:\n"
        "  - {kind: http, endpoint: u, spec: {method: GET}, timeout: 3}\n",
    ],
)
def test_every_form_of_a_document_migrates(text: str) -> None:
    migrated = migrate(text, "f.yaml")
    again = load_playbook(migrated.text, "f.yaml")
    assert migrated.findings == []
    assert again.strict == [], migrated.text
    assert shape(load(text)) == shape(load(migrated.text))
    assert ("\r\n" in text) == ("\r\n" in migrated.text)


def test_a_broken_playbook_is_left_alone() -> None:
    text = "workflow:\n- step: a\n  tool: htp\n"
    migrated = migrate(text, "f.yaml")
    assert migrated.text is None
    assert [found.rule for found in migrated.findings] == ["tool.kind"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("- {step: a, tool: noop, retry: {retry_when: 'x {{ error }}'}}", "migrate.kept"),
        ("- {step: a, tool: {kind: noop, set: {ctx.a.b: 1}}}", "migrate.kept"),
        (
            "- {step: a, tool: {kind: noop, eval: "
            "[{else: {do: break, set_ctx: {s: '{{ outcome.status }}'}}}]}}",
            "migrate.word",
        ),
    ],
)
def test_what_cannot_be_kept_is_reported(text: str, rule: str) -> None:
    migrated = migrate(f"workflow:\n{text}\n", "f.yaml")
    assert [found.rule for found in migrated.findings] == [rule]
    load(migrated.text)
