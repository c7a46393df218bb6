"""Migration keeps the meaning, the comments and everything that needed no change."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.program.policy import Retry, Rule
from anew.program.program import Dialect, Program, Task
from anew.program.span import NOWHERE
from anew.values import Object
from tests.languages.documents import EVERYTHING, PIPELINE, SEEDS, in_workflow
from tests.languages.spanless import spanless

OWN = "(ctx.own | default(workload.own))"
STATUS = "('success' if outcome.status == 'ok' else outcome.status)"


def load(text: str) -> Program:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    return loaded.program


def directives(rules: tuple[Rule, ...]) -> list[object]:
    """What rules do, without where they stand."""
    return [_without_places(rule) for rule in rules]


def _without_places(found: Rule) -> object:
    rule = spanless(found)
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
        "            on_exhausted: {do: continue}\n"
    )


@pytest.mark.parametrize(
    ("dialect", "before", "after"),
    [
        ("eval", "outcome.status == 'success'", "outcome.status == 'ok'"),
        ("eval", "'success' != outcome.status", "'ok' != outcome.status"),
        ("eval", "outcome.status in ['success', 'x']", "outcome.status in ['ok', 'x']"),
        ("eval", "outcome.result.word == 'success'", "outcome.result.word == 'success'"),
        ("eval", "(outcome.status | upper) == 'X'", f"({STATUS} | upper) == 'X'"),
        ("eval", "outcome.status == workload.w", f"{STATUS} == workload.w"),
        ("eval", "outcome.status == 'ok'", f"{STATUS} == 'ok'"),
        ("output", "output.status == 'ok'", "outcome.status == 'ok'"),
        ("output", "output.data.data.x", "outcome.result.data.x"),
        ("output", "output['data'].x", "outcome['result'].x"),
        ("output", "output.status and ctx.free", "outcome.status and workload.free"),
        ("output", "output.status and ctx.own", "outcome.status and " + OWN),
        ("output", "output.status and ctx['free']", "outcome.status and workload['free']"),
        ("retry", "success", "(outcome.status == 'ok')"),
        (
            "retry",
            "data.error == 'data'",
            "(outcome.result.data | default(outcome.result)).error == 'data'",
        ),
        ("retry", "data", "(outcome.result.data | default(outcome.result) | default(none))"),
        ("retry", "result == 1", "(outcome.result | default(none)) == 1"),
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


SPELLINGS = [
    (
        "spec:  {join: each}  # odd\n  tool: noop",
        "spec:  {join: each}  # odd\n  tool:\n    kind: noop",
    ),
    ("spec: {timeout: 3}\n  tool: noop", "tool:\n    kind: noop\n    spec:\n      timeout: 3"),
    ("tool: {kind: noop}\n  input: {a: 1}  # mine", "tool: {kind: noop}\n  args: {a: 1}  # mine"),
    ("tool: {kind: noop}\n  with:\n    a: 1", "tool: {kind: noop}\n  args:\n    a: 1"),
    (
        "spec: {policy: {admit: {rules: [{when: ctx.x, allow: true}, {else: {allow: false}}]}}}\n"
        "  tool: {kind: noop}",
        "spec:\n    policy:\n      admit:\n        rules:\n        - when: ctx.x\n"
        "          then: {allow: true}\n        - else: {then: {allow: false}}\n"
        "  tool: {kind: noop}",
    ),
    (
        "tool:\n    kind: noop\n    spec:\n      policy:\n        rules:\n"
        "        - when: ctx.x\n          then: {do: retry, on_exhausted: continue}\n"
        "        - when: ctx.y\n          then: {set_ctx: {z: 1}}\n"
        "        - then: {do: fail}",
        "tool:\n    kind: noop\n    spec:\n      policy:\n        rules:\n"
        "        - when: ctx.x\n          then:\n            do: retry\n"
        "            on_exhausted:\n              do: continue\n"
        "        - when: ctx.y\n          then:\n            do: continue\n"
        "            set_ctx: {z: 1}\n"
        "        - else:\n            then: {do: fail}",
    ),
]


@pytest.mark.parametrize(("before", "after"), SPELLINGS)
def test_a_looser_spelling_of_a_step_becomes_the_canonical_one(before: str, after: str) -> None:
    migrated = migrate(f"workflow:\n- step: a\n  {before}\n", "f.yaml")
    assert migrated.text == f"workflow:\n- step: a\n  {after}\n"
    assert load_playbook(migrated.text, "f.yaml").strict == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "keychain:\n  token: {kind: bearer}  # ours\n  other: {name: mine}\n",
            "keychain:\n- name: token  # ours\n  kind: bearer\n- name: mine\n",
        ),
        (
            "workbook:\n- {name: w, kind: noop}\n- x: {kind: noop, result: 1}\n"
            "- name:   y  # kept\n  tool: {kind: noop}\n- kind: noop\n",
            "workbook:\n- name: w\n  tool:\n    kind: noop\n"
            "- name: x\n  tool: {kind: noop, result: 1}\n"
            "- name:   y  # kept\n  tool: {kind: noop}\n"
            "- name: task_3\n  tool:\n    kind: noop\n",
        ),
        (
            "vars:  # old\n  d: {b: 2, c: {e: 1}}\n  x: 1  # one\n"
            "workload:\n  d: {a: 1, c: {f: 2}}\n",
            "ctx:  # old\n  d: {b: 2, c: {e: 1}}\n  x: 1  # one\n"
            "workload:\n  d: {a: 1, c: {f: 2}}\n",
        ),
    ],
)
def test_a_section_in_another_form_becomes_the_canonical_one(before: str, after: str) -> None:
    steps = "workflow:\n- step: a\n  tool: {kind: noop}\n"
    migrated = migrate(before + steps, "f.yaml")
    old, new = load(before + steps), load(migrated.text)
    assert migrated.text == after + steps
    assert load_playbook(migrated.text, "f.yaml").strict == []
    assert (old.workload, old.keychain) == (new.workload, new.keychain)
    assert old.workbook.keys() == new.workbook.keys()


COMMENTED = """\
workflow:
- step: a  # name
  # above tool
  tool:  # on tool
  # above t1
  - t1:  # on t1
      kind: http  # on kind
      url: u # on url
      # above eval
      eval:  # on eval
      # above rule
      - expr: >
          {{ outcome.status == 'success'
             and outcome.result.x }}
        do: retry # on do
        # above attempts
        attempts: 3 # on attempts
      - else:  # on else
          do: continue # on continue
  - t2: {kind: noop} # on t2
  next: b  # on next
- step: b
  tool: {kind: noop}
"""


def test_a_comment_stays_at_its_line_and_is_written_once() -> None:
    assert (
        migrate(COMMENTED, "f.yaml").text
        == """\
workflow:
- step: a  # name
  # above tool
  tool:  # on tool
  # above t1
  - t1:  # on t1
      kind: http  # on kind
      url: u # on url
      spec:
        # above eval
        policy:  # on eval
          rules:
          # above rule
          - when: "{{ outcome.status == 'ok' and outcome.result.x }}"
            then:
              do: retry # on do
              # above attempts
              attempts: 3 # on attempts
          - else:  # on else
              then:
                do: continue # on continue
  - t2: {kind: noop} # on t2
  next:  # on next
    spec: {mode: exclusive}
    arcs:
    - step: b
- step: b
  tool: {kind: noop}
"""
    )


def test_what_a_task_writes_keeps_its_comment() -> None:
    text = "workflow:\n- step: a\n  tool: noop\n  set:\n    ctx.v: 1  # once\n    w: 2\n"
    result = migrate(text, "f.yaml").text
    assert result is not None
    assert "    set:\n      w: 2\n    set_ctx:\n      v: 1  # once\n" in result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("set: {ctx.v: '{{ output.x }}', w: 1}", {"ctx.v": "{{ output.x }}", "ctx.w": 1}),
        ("set_ctx: {v: 1}", {"ctx.v": 1}),
        ("vars: {v: 1}\n  set: {step.w: 2}", {"ctx.v": 1, "ctx.w": 2}),
        ("next: [{step: a, set: {v.w: 1}}]", {"ctx.v.w": 1}),
    ],
)
def test_what_a_step_or_an_arc_writes_names_its_target(before: str, after: Object) -> None:
    text = f"workflow:\n- step: a\n  tool: {{kind: noop}}\n  {before}\n"
    migrated = migrate(text, "f.yaml")
    assert migrated.findings == []
    assert load_playbook(str(migrated.text), "f.yaml").strict == []
    (step,) = load(str(migrated.text)).steps.values()
    patches = step.patches or step.router.arcs[0].patches
    assert {f"{p.target}.{'.'.join(p.path)}": p.value.source for p in patches} == after
    assert all(key in str(migrated.text) for key in after)


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("output", "(outcome.result | default(none))"),
        ("output.x.y", "outcome.result.x.y"),
        ("output.get('x')", "(outcome.result | default(none)).get('x')"),
        ("output is defined", "outcome.result is defined"),
        ("output.data.x", "(outcome.result.data | default(outcome.result)).x"),
        (
            "output['status']",
            "(outcome.result['status'] if outcome.result is mapping and 'status' in "
            "outcome.result else outcome['status'])",
        ),
    ],
)
def test_the_result_that_a_set_reads_is_that_of_the_outcome(output: str, outcome: str) -> None:
    text = f'workflow:\n- step: a\n  tool: {{kind: noop, set: {{v: "{{{{ {output} }}}}"}}}}\n'
    (task,) = tasks_of(load(str(migrate(text, "f.yaml").text)))
    assert task.dialect is Dialect.POLICY
    assert [p.value.source for p in task.policy.patches] == [f"{{{{ {outcome} }}}}"]


def test_a_comment_above_a_step_that_is_kept_is_written_once() -> None:
    text = (
        "workflow:\n# kept\n- step: a\n  tool: {kind: noop, set: {ctx.a.b: 1}}\n"
        "# changed\n- step: b\n  tool: noop\n"
    )
    result = migrate(text, "f.yaml").text
    assert result == text.replace("tool: noop\n", "tool:\n    kind: noop\n")


def test_a_comment_beside_the_sign_of_a_folded_text_is_kept() -> None:
    text = (
        "workflow:\n- step: a\n  tool:\n    kind: noop\n    eval:\n    - expr: >-  # why\n"
        "        outcome.status == 'success'\n      do: break\n"
    )
    result = migrate(text, "f.yaml").text
    assert "# why\n" in str(result)


def test_a_text_of_several_lines_keeps_them() -> None:
    text = (
        "workflow:\n- step: a\n  tool:\n    kind: noop\n    set:\n"
        "      ctx.v: |\n        was {{ output.x }}\n        {{ output.y }}\n"
    )
    result = migrate(text, "f.yaml").text
    assert result is not None
    assert "v: |\n" in result
    assert "was {{ outcome.result.x }}\n" in result
    values = {p.value.source for t in tasks_of(load(result)) for p in t.policy.patches}
    assert values == {"was {{ outcome.result.x }}\n{{ outcome.result.y }}\n"}


def test_what_a_rule_says_of_itself_is_kept() -> None:
    text = "workflow:\n- {step: a, tool: {kind: noop, eval: [{name: n, expr: ctx.x, do: fail}]}}\n"
    assert "        - name: n\n          when: ctx.x\n" in migrate(text, "f.yaml").text


@pytest.mark.parametrize(
    "text",
    [
        "- {step: a, tool: noop, retry: {retry_when: 'x {{ error }}'}}",
        "- {step: a, tool: noop, retry: {retry_when: 'output'}}",
        "- {step: a, tool: noop, retry: {initial_delay: '{{ attempt }}'}}",
        "- {step: a, tool: noop, set: {ctx.a: '{{ data }}'}}",
        "- {step: a, tool: {kind: noop, set: {ctx.a.b: 1}}}",
        "- {step: a, tool: {kind: noop, eval: [{else: {set_ctx: {v: '{{ output }}'}}}]}}",
        "- {step: a, tool: {kind: noop, set: {ctx.v: '{% set output = 1 %}{{ output.data }}'}}}",
        "- {step: a, tool: {kind: noop, eval: [{else: {set_ctx: {s: '{{ outcome }}'}}}]}}",
        "- {step: a, tool: {kind: noop, eval: [{expr: 'output', do: fail}]}}",
        "- {step: a, with: {x: '{{ ctx.w }}'}, tool: "
        "[{t: {kind: noop, set: {ctx.v: 1}}}, {u: {kind: noop}}]}",
    ],
)
def test_a_step_that_cannot_be_said_otherwise_is_left_as_it_is(text: str) -> None:
    document = f"workload: {{w: 1}}\nworkflow:\n{text}\n"
    migrated = migrate(document, "f.yaml")
    assert [found.rule for found in migrated.findings] == ["migrate.kept"]
    assert migrated.text == document


def test_a_workbook_that_cannot_be_said_otherwise_is_left_as_it_is() -> None:
    text = "workbook:\n- w: {kind: noop, set: {ctx.a.b: 1}}\nworkflow:\n- {step: a, tool: noop}\n"
    migrated = migrate(text, "f.yaml")
    assert [found.rule for found in migrated.findings] == ["migrate.kept"]
    assert migrated.text is not None
    assert migrated.text.startswith("workbook:\n- w: {kind: noop, set: {ctx.a.b: 1}}\n")


def test_expressions_read_ctx_for_the_vars_of_older_documents() -> None:
    text = (
        'vars: {id: "{{ run_id }}"}\nworkflow:\n- step: a\n  tool:\n    kind: python\n'
        "    code: 'vars.x'\n    args: {id: '{{ vars.id }} {{ x.vars }}'}\n"
        "  next: {arcs: [{step: a, when: vars.more}]}\n"
    )
    after = (
        'ctx: {id: "{{ run_id }}"}\nworkflow:\n- step: a\n  tool:\n    kind: python\n'
        "    code: 'vars.x'\n    args:\n      id: \"{{ ctx.id }} {{ x.vars }}\"\n"
    )
    migrated = migrate(text, "f.yaml")
    assert migrated.findings == []
    assert str(migrated.text).startswith(after)
    assert "when: ctx.more" in str(migrated.text)


def test_a_name_of_the_authors_own_is_not_taken_for_older_state() -> None:
    text = "workload: {vars: {x: 1}}\nvars: {y: 2}\nworkflow:\n- {step: a, when: vars.x}\n"
    assert "when: vars.x" in str(migrate(text, "f.yaml").text)


def test_a_timeout_under_its_other_name_moves_to_spec() -> None:
    text = "workflow:\n- step: a\n  tool: {kind: shell, command: ls, timeout_seconds: 5}\n"
    assert migrate(text, "f.yaml").text == (
        "workflow:\n- step: a\n  tool:\n    kind: shell\n    command: ls\n"
        "    spec:\n      timeout: 5\n"
    )
