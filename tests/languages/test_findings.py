"""One minimal document per rule: it must be reported, at the right place."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.rules import DOT_RULES, RULES
from anew.program.findings import Severity

WORKFLOW = "workflow:\n- step: a\n"
TASK = WORKFLOW + "  tool:\n  - t:\n      kind: noop\n"
RULE = TASK + "      spec:\n        policy:\n          rules:\n          - "
BACKOFF = TASK + "      spec: {backoff: "
HTTP_RETRY = (
    WORKFLOW + "  tool:\n  - t:\n      kind: http\n      url: u\n      method: POST\n"
    "      spec: {policy: {rules: [{else: {then: {do: retry}}}]}}\n"
)
LOOP = WORKFLOW + "  tool: {kind: noop}\n  loop:"
SAVE = "  save: {storage: sqlite, table: t, data: {a: 1, c: 2}, "
FORK = WORKFLOW + "  next:\n    spec: {mode: fork%s}\n    arcs: [{step: b}, {step: %s}]\n"
HUMAN = WORKFLOW + "  tool: {kind: human, question: q, timeout: 5m, %s}\n"
DEEP = "a: " + "[" * 101 + "]" * 101

# rule, document, line, column
CASES: list[tuple[str, str | bytes, int, int]] = [
    ("yaml.syntax", "a: b: c\n", 1, 5),
    ("yaml.encoding", b"a: \xff\n", 1, 4),
    ("yaml.size", "#" * (1 << 20) + "\n", 1, 1),
    ("yaml.depth", DEEP, 1, 103),
    ("yaml.aliases", "x: &x 1\ny: [" + "*x, " * 1001 + "]\n", 2, 4005),
    ("yaml.alias", "a: *nothing\n", 1, 4),
    ("yaml.several", "a: 1\n---\nb: 2\n", 2, 1),
    ("yaml.duplicate-key", "workflow: []\nkind: a\nkind: b\n", 3, 1),
    ("yaml.key", "a: {{ b }}\n", 1, 4),
    ("yaml.merge", "a: {<<: {b: 1}}\n", 1, 5),
    ("yaml.tag", "a: !!python/object:os.system {}\n", 1, 4),
    ("document.empty", "# nothing\n", 1, 1),
    ("document.shape", "- a\n", 1, 1),
    ("value.type", "workflow: here\n", 1, 11),
    ("workflow.missing", "# a comment\nkind: Playbook\n", 2, 1),
    ("workflow.empty", "kind: Playbook\nworkflow: []\n", 2, 11),
    ("step.name", "workflow:\n- tool: {kind: noop}\n", 2, 1),
    ("step.duplicate", WORKFLOW + "  next: b\n- step: b\n- step: b\n", 5, 9),
    ("step.when", RULE + "else: {then: {do: break}}\n  when: ctx.x\n", 10, 3),
    ("step.join", WORKFLOW + "  spec:\n    join: some\n", 4, 11),
    ("vars.root", RULE + "else: {then: {do: break}}\nvars:\n  x: 1\n", 10, 1),
    ("entry.unknown", "executor:\n  spec:\n    entry_step: z\n" + WORKFLOW, 3, 17),
    ("return.unknown", "executor:\n  spec:\n    return_step: z\n" + WORKFLOW, 3, 18),
    ("guard.rule", "executor: {spec: {dependencies: {api: {concurrency: 0}}}}\n" + WORKFLOW, 1, 53),
    ("guard.priority", TASK + "      spec: {dependency: api, priority: high}\n", 6, 41),
    ("guard.timeout", TASK + "      spec: {dependency: api, hold_timeout: 0}\n", 6, 45),
    ("limit.value", "executor:\n  spec:\n    limits: {deliveries: 0}\n" + WORKFLOW, 3, 26),
    ("failure.mode", "executor: {spec: {policy: {failure: {mode: x}}}}\n" + WORKFLOW, 1, 44),
    ("arc.unknown-step", WORKFLOW + "  next:\n    arcs:\n    - step: b\n", 5, 13),
    ("arc.step-missing", WORKFLOW + "  next:\n    arcs:\n    - when: ctx.x\n", 5, 5),
    ("set.iter", WORKFLOW + "  next:\n  - step: a\n    set: {iter.x: 1}\n", 5, 11),
    ("set.name", TASK + "      set: {output: 1}\n", 6, 13),
    ("workload.text", "workload: {u: '{{ env.U }}'}\n" + WORKFLOW, 1, 15),
    ("set.order", WORKFLOW + '  set: {x: 1, y: "{{ ctx.x }}"}\n', 3, 15),
    ("set.twice", WORKFLOW + "  set: {ctx.x: 1}\n  vars: {x: 2}\n", 4, 10),
    ("next.shape", WORKFLOW + "  next:\n    200: a\n", 3, 3),
    ("next.mode", WORKFLOW + "  next:\n    spec: {mode: all}\n    arcs: []\n", 4, 18),
    ("next.fork-join", FORK % ("", "c") + "- step: b\n- step: c\n", 3, 3),
    ("next.max-in-flight", FORK % (", max_in_flight: 0", "a") + "- step: b\n", 4, 39),
    ("arc.most", WORKFLOW + "  next: {arcs: [{step: a, most: 0}]}\n", 3, 33),
    (
        "arc.weight",
        WORKFLOW + "  next: {spec: {mode: preferred}, arcs: [{step: a, weight: x}]}\n",
        3,
        60,
    ),
    ("target.unknown", WORKFLOW + "  spec: {policy: {failure: {goto: b}}}\n", 3, 35),
    ("target.unknown", FORK % (", join: d", "c") + "- step: b\n- step: c\n", 4, 30),
    ("target.unknown", RULE + "else: {then: {do: retry, to: b}}\n", 9, 42),
    ("target.unknown", WORKFLOW + "  spec: {gate: {to: b}}\n", 3, 21),
    (
        "target.unknown",
        "executor: {spec: {policy: {failure: {fallback: b}}}}\n" + WORKFLOW,
        1,
        48,
    ),
    ("join.k", WORKFLOW + "  spec: {join: k_of_n}\n", 3, 16),
    ("join.k", WORKFLOW + "  spec: {join: {policy: k_of_n}}\n", 3, 10),
    ("join.k", WORKFLOW + "  spec: {join: {policy: k_of_n, k: 0}}\n", 3, 36),
    ("join.no-fork", WORKFLOW + "  spec: {join: quorum}\n", 3, 16),
    ("gate.accepts", WORKFLOW + "  spec: {gate: {accepts: [good]}}\n", 3, 27),
    ("gate.accepts", WORKFLOW + "  spec: {gate: {accepts: []}}\n", 3, 26),
    ("gate.budget", WORKFLOW + "  spec: {gate: {budget: run}}\n", 3, 25),
    ("gate.most", WORKFLOW + "  spec: {gate: {most: 0}}\n", 3, 23),
    ("gate.no-exit", WORKFLOW + "  spec: {gate: true}\n", 3, 10),
    ("ctx.start", "executor: {spec: {ctx: full}}\n" + WORKFLOW, 1, 24),
    ("human.choices", HUMAN % "choices: yes", 3, 58),
    ("human.choices", HUMAN % "choices: [1]", 3, 59),
    ("human.timeout-action", HUMAN % "timeout_action: last", 3, 65),
    ("tool.input", HUMAN % "choices: [A, B], default: C", 3, 75),
    ("rule.verdict", RULE + "else: {then: {do: continue, verdict: failure}}\n", 9, 50),
    ("rule.budget", RULE + "else: {then: {do: retry, budget: run}}\n", 9, 46),
    (
        "loop.retry-to",
        RULE + "else: {then: {do: retry, to: a}}\n  loop: {in: [1], iterator: i}\n",
        9,
        31,
    ),
    ("loop.in-missing", LOOP + " {iterator: i}\n", 4, 3),
    ("loop.in", LOOP + "\n    in: workload.rows\n    iterator: i\n", 5, 9),
    ("loop.iterator-missing", LOOP + "\n    in: [1]\n", 4, 3),
    ("loop.mode", LOOP + " {in: [1], iterator: i, spec: {mode: fast}}\n", 4, 45),
    ("loop.max-in-flight", LOOP + " {in: [1], iterator: i, spec: {max_in_flight: 0}}\n", 4, 54),
    ("tool.shape", WORKFLOW + "  tool: [noop]\n", 3, 10),
    ("tool.kind-missing", WORKFLOW + "  tool:\n  - t:\n      url: u\n", 4, 5),
    ("tool.kind", WORKFLOW + "  tool:\n    kind: htp\n", 4, 11),
    ("tool.input-missing", WORKFLOW + "  tool:\n  - t:\n      kind: http\n", 4, 5),
    ("tool.input-twice", WORKFLOW + "  tool: {kind: http, url: a, endpoint: b}\n", 3, 30),
    (
        "artifact.put",
        WORKFLOW + "  tool: {kind: artifact, name: x, action: put, value: 1, version: 2}\n",
        3,
        58,
    ),
    ("script.source", WORKFLOW + "  tool: {kind: python, script: {uri: a}}\n", 3, 24),
    ("tool.exactly-once", TASK + "      spec: {exactly_once: yes}\n", 6, 28),
    ("tool.exactly-once", TASK + "      spec: {exactly_once: true}\n", 6, 14),
    ("tool.timeout", TASK + "      spec: {timeout: soon}\n", 6, 23),
    ("task.duplicate", TASK + "  - t: {kind: noop}\n", 6, 5),
    ("policy.shape", TASK + "      spec:\n        policy:\n          on_unmatched: fail\n", 7, 9),
    ("policy.conflict", RULE + "else: {then: {do: break}}\n      retry: true\n", 10, 7),
    ("policy.misplaced", WORKFLOW + "  spec:\n    policy:\n      rules: []\n", 5, 7),
    ("policy.unmatched-word", TASK + "      spec: {policy: {rules: [], on_unmatched: x}}\n", 6, 48),
    ("rule.shape", RULE + "retry\n", 9, 13),
    ("rule.then-missing", RULE + "when: 'true'\n", 9, 11),
    ("rule.do", RULE + "else: {then: {do: repeat}}\n", 9, 31),
    ("rule.jump-to-missing", RULE + "else:\n              then: {do: jump}\n", 10, 15),
    ("rule.jump-unknown", RULE + "else: {then: {do: jump, to: u}}\n", 9, 41),
    ("rule.attempts", RULE + "else: {then: {do: retry, attempts: 0}}\n", 9, 48),
    ("rule.attempts-type", RULE + "else: {then: {do: retry, attempts: many}}\n", 9, 48),
    ("rule.backoff", RULE + "else: {then: {do: retry, backoff: quick}}\n", 9, 47),
    ("rule.delay", RULE + "else: {then: {do: retry, delay: -1}}\n", 9, 45),
    ("rule.jitter", RULE + "else: {then: {do: retry, jitter: some}}\n", 9, 46),
    ("paginate.shape", TASK + "      paginate: {param: page}\n", 6, 7),
    ("poll.shape", TASK + "      poll: {until: ctx.x}\n", 6, 7),
    ("backoff.shape", BACKOFF + "1s, policy: {rules: [{else: {then: {do: retry}}}]}}\n", 6, 14),
    ("backoff.kind", BACKOFF + "{rate_limt: 1s, default: 1s}}\n", 6, 24),
    ("backoff.default", BACKOFF + "{rate_limit: 1s}}\n", 6, 14),
    ("rule.multiplier", RULE + "else: {then: {do: retry, multiplier: 0}}\n", 9, 50),
    ("rule.on-exhausted", RULE + "else: {then: {do: retry, on_exhausted: retry}}\n", 9, 52),
    ("admit.rule", WORKFLOW + "  spec: {policy: {admit: {rules: [{when: ctx.x}]}}}\n", 3, 35),
    ("expression.syntax", RULE + 'when: "{{ outcome.status = 1 }}"\n            then: {}\n', 9, 38),
    ("workbook.unknown", WORKFLOW + "  tool: {kind: workbook, name: w}\n", 3, 32),
    ("workbook.duplicate", "workbook:\n- {name: w, kind: noop}\n- {name: w, kind: noop}\n", 3, 10),
    ("step.pool", WORKFLOW + "  tool: {kind: noop, spec: {pool: x}}\n  spec: {pool: y}\n", 3, 35),
    ("save.storage", WORKFLOW + "  save: {}\n", 3, 3),
    ("save.storage", WORKFLOW + "  save: {storage: tape}\n", 3, 19),
    ("save.table", WORKFLOW + "  save: {storage: sqlite, data: {a: 1}}\n", 3, 3),
    ("save.data", WORKFLOW + "  save: {storage: sqlite, table: t, data: 1}\n", 3, 43),
    ("save.mode", WORKFLOW + SAVE + "mode: all}\n", 3, 63),
    ("save.key", WORKFLOW + SAVE + "mode: update, key: b}\n", 3, 76),
    ("dialect.unsupported", WORKFLOW + "  tool: iterator\n", 3, 9),
    ("key.unknown", WORKFLOW + "  tool: {kind: noop}\n  nxt: a\n", 4, 3),
    ("input.unknown", WORKFLOW + "  tool: {kind: noop, reslt: a}\n", 3, 22),
    ("key.unused", RULE + "else: {then: {do: fail, attempts: 3}}\n", 9, 37),
    ("name.unknown", WORKFLOW + '  tool: {kind: noop, result: "{{ workloda.x }}"}\n', 3, 34),
    ("name.unprovided", WORKFLOW + '  tool: {kind: noop, result: "{{ api_url }}"}\n', 3, 34),
    ("name.reserved", "workflow:\n- step: ctx\n", 2, 9),
    ("name.scope", WORKFLOW + '  tool: {kind: noop, result: "{{ event.name }}"}\n', 3, 34),
    ("condition.empty", RULE + "when: ''\n            then: {do: fail}\n", 9, 19),
    ("key.without-effect", "executor: {spec: {final_step: a}}\n" + WORKFLOW, 1, 19),
    ("keychain.name", "keychain:\n- {kind: bearer}\n" + WORKFLOW, 2, 1),
    ("loop.iterator", LOOP + " {in: [1], iterator: a b}\n", 4, 29),
    ("tool.input", WORKFLOW + "  tool: {kind: sleep, seconds: soon}\n", 3, 32),
    (
        "tool.input-word",
        WORKFLOW + "  tool: {kind: artifact, action: keep, name: n}\n",
        3,
        34,
    ),
    ("event.word", WORKFLOW + "  next: [{step: a, when: event.name == 'done'}]\n", 3, 41),
    ("outcome.key", RULE + "when: outcome.stauts\n            then: {}\n", 9, 19),
    ("outcome.word", RULE + "when: outcome.status == 'success'\n            then: {}\n", 9, 38),
    (
        "policy.error-uncovered",
        RULE + "when: outcome.http.status == 503\n            then: {}\n",
        8,
        11,
    ),
    ("http.retry-unsafe", HTTP_RETRY, 4, 5),
    ("retry.always", WORKFLOW + '  tool: {kind: noop, retry: {retry_when: "{{ true }}"}}\n', 3, 42),
    (
        "outcome.message-text",
        RULE + "when: \"'no' in outcome.error.message\"\n            then: {do: fail}\n",
        9,
        20,
    ),
    (
        "rule.delay-long",
        RULE + "else: {then: {do: retry, attempts: 20, backoff: exponential}}\n",
        9,
        31,
    ),
    (
        "code.template",
        WORKFLOW + "  tool: {kind: python, code: \"x = '{{ run_id }}'\"}\n",
        3,
        30,
    ),
    ("code.braces", WORKFLOW + "  tool: {kind: python, code: \"x = '{{ who }}'\"}\n", 3, 30),
    ("sql.template", WORKFLOW + '  tool: {kind: sqlite, command: "{{ ctx.q }}"}\n', 3, 33),
    ("shell.template", WORKFLOW + '  tool: {kind: shell, command: "ls {{ ctx.q }}"}\n', 3, 39),
    (
        "shell.secret",
        "keychain: [{name: k}]\n"
        + WORKFLOW
        + '  tool: {kind: shell, command: "ls {{ keychain.k }}"}\n',
        4,
        39,
    ),
    ("step.unreachable", WORKFLOW + "- step: b\n", 3, 9),
    ("jump.endless", RULE + "else: {then: {do: jump, to: t}}\n", 9, 11),
    (
        "rule.after-else",
        RULE + "else: {then: {}}\n          - when: 'true'\n            then: {}\n",
        10,
        11,
    ),
    (
        "loop.parallel-ctx",
        RULE + "else: {then: {set_ctx: {x: 1}}}\n"
        "  loop: {in: [1], iterator: i, spec: {mode: parallel}}\n",
        9,
        37,
    ),
]
STRICT_CASES: list[tuple[str, str, int, int]] = [
    ("strict.tool-string", WORKFLOW + "  tool: noop\n", 3, 3),
    ("strict.tool-missing", WORKFLOW, 2, 1),
    ("strict.task-form", WORKFLOW + "  tool:\n  - {name: t, kind: noop}\n", 4, 3),
    ("strict.next", WORKFLOW + "  next: a\n", 3, 3),
    ("strict.arc", WORKFLOW + "  next: {arcs: [a]}\n", 3, 17),
    ("strict.retry", WORKFLOW + "  tool: noop\n  retry: true\n", 4, 3),
    ("strict.eval", TASK + "      eval: [{else: {do: continue}}]\n", 6, 7),
    (
        "strict.output",
        RULE + "when: output.status == 'error'\n            then: {do: fail}\n",
        4,
        5,
    ),
    ("strict.rule", RULE + "else: {do: fail}\n", 9, 13),
    ("strict.set", RULE + "else: {then: {set: {ctx.x: 1}}}\n", 9, 27),
    ("strict.input", WORKFLOW + "  tool: {kind: http, endpoint: u}\n", 3, 22),
    ("strict.spec-input", WORKFLOW + "  tool: {kind: http, spec: {url: u}}\n", 3, 29),
    ("strict.keychain", "keychain: {token: {kind: bearer}}\n" + WORKFLOW, 1, 1),
    ("strict.input", WORKFLOW + "  tool: {kind: noop}\n  input: {a: 1}\n", 4, 3),
    ("strict.rule", RULE + "then: {do: fail}\n", 9, 11),
    ("strict.rule", RULE + "else: {then: {set_ctx: {x: 1}}}\n", 9, 20),
    ("strict.rule", RULE + "else: {then: {do: retry, on_exhausted: continue}}\n", 9, 38),
    (
        "strict.rule",
        WORKFLOW
        + "  spec:\n    policy:\n      admit:\n        rules:\n        - else: {allow: true}\n",
        7,
        11,
    ),
    (
        "strict.rule",
        WORKFLOW + "  spec: {policy: {admit: {rules: [{when: ctx.x, allow: true}]}}}\n",
        3,
        35,
    ),
    ("strict.case", WORKFLOW + "  tool: {kind: noop}\n  case: []\n", 4, 3),
    ("strict.save", WORKFLOW + "  save: {storage: event}\n", 3, 3),
    ("strict.workbook", "workbook:\n- {name: w, kind: noop}\n" + WORKFLOW, 2, 1),
    ("strict.workbook", "workbook:\n- w: {kind: noop}\n" + WORKFLOW, 2, 1),
    (
        "strict.script",
        WORKFLOW + "  tool: {kind: python, script: {uri: a.py, source: {type: file}}}\n",
        3,
        24,
    ),
    (
        "strict.shell",
        "executor: {profile: local}\n" + WORKFLOW + "  tool: {kind: shell, command: x}\n",
        4,
        23,
    ),
    ("strict.raw", WORKFLOW + "  tool: {kind: shell, command: 'x {{.ID}}'}\n", 3, 32),
    ("strict.place", WORKFLOW + "  tool: {kind: noop, timeout: 3}\n", 3, 22),
    ("strict.step-when", WORKFLOW + "  when: ctx.x\n", 3, 3),
    ("strict.vars", "vars: {x: 1}\n" + WORKFLOW, 1, 1),
    ("strict.workbook", "workbook: {w: {kind: noop}}\n" + WORKFLOW, 1, 1),
]


@pytest.mark.parametrize(("rule", "text", "line", "column"), CASES, ids=[c[0] for c in CASES])
def test_a_wrong_document_is_reported_where_it_is_wrong(
    rule: str, text: str | bytes, line: int, column: int
) -> None:
    loaded = load_playbook(text, "f.yaml")
    places = [(f.place.line, f.place.column) for f in loaded.findings if f.rule == rule]
    assert (line, column) in places, loaded.findings
    assert (loaded.program is None) is (RULES[rule].severity is Severity.ERROR)


@pytest.mark.parametrize(
    ("rule", "text", "line", "column"), STRICT_CASES, ids=[c[0] for c in STRICT_CASES]
)
def test_strict_mode_reports_a_spelling_that_is_not_canonical(
    rule: str, text: str, line: int, column: int
) -> None:
    loaded = load_playbook(text, "f.yaml")
    assert (rule, line, column) in [(f.rule, f.place.line, f.place.column) for f in loaded.strict]
    assert all(f.suggestion for f in loaded.strict)
    assert rule not in [f.rule for f in loaded.findings]


@pytest.mark.parametrize("text", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_every_finding_comes_with_a_remedy(text: str | bytes) -> None:
    assert [f for f in load_playbook(text, "f.yaml").findings if not f.suggestion] == []


def test_every_rule_has_a_minimal_document_and_a_summary() -> None:
    tested = {case[0] for case in CASES} | {case[0] for case in STRICT_CASES}
    elsewhere = ("migrate.", "file.", "language.", "tool.extra", "script.missing")
    playbook_rules = RULES.keys() - DOT_RULES.keys()
    assert tested == {rule for rule in playbook_rules if not rule.startswith(elsewhere)}
    assert all(rule.summary.endswith(".") for rule in RULES.values())


def test_all_problems_of_a_document_are_reported_together() -> None:
    text = (
        "workflow:\n"
        "- step: a\n"
        "  tool: {kind: htpp}\n"
        "  next: {arcs: [{step: bb}], spec: {mode: every}}\n"
        "- step: b\n"
        "  tool:\n"
        "  - one: {kind: http}\n"
        "  - one: {kind: noop}\n"
        "  loop: {}\n"
        "- step: b\n"
    )
    loaded = load_playbook(text, "f.yaml")
    found = {f.rule for f in loaded.findings}
    assert loaded.program is None
    assert found >= {
        "tool.kind",
        "arc.unknown-step",
        "next.mode",
        "tool.input-missing",
        "task.duplicate",
        "loop.in-missing",
        "loop.iterator-missing",
        "step.duplicate",
    }


def test_a_misspelt_target_names_the_step_that_was_meant_and_does_not_make_it_unreachable() -> None:
    text = "workflow:\n- step: fetch\n  next: {arcs: [{step: stor}]}\n- step: store\n"
    loaded = load_playbook(text, "f.yaml")
    assert [(f.rule, f.suggestion) for f in loaded.findings] == [
        ("arc.unknown-step", "Did you mean 'store'?")
    ]


LOOP_NAMES = "{{ [row, _index, loop_index, _total] }}"


def test_the_names_of_a_loop_are_known_in_its_tasks() -> None:
    loop = "  loop: {in: [1], iterator: row}\n"
    text = f'{WORKFLOW}{loop}  tool: {{kind: noop, result: "{LOOP_NAMES}"}}\n'
    assert load_playbook(text, "f.yaml").findings == []


@pytest.mark.parametrize("name", ["row", "_index", "loop_index", "_total"])
def test_the_names_of_a_loop_are_unknown_in_its_arcs(name: str) -> None:
    loop = "  loop: {in: [1], iterator: row}\n  tool: {kind: noop}\n"
    text = f'{WORKFLOW}{loop}  next: [{{step: end, when: "{name} > 1"}}]\n- step: end\n'
    (found,) = load_playbook(text, "f.yaml").findings
    assert (found.rule, found.severity) == ("name.scope", Severity.WARNING)
    assert found.suggestion == "After the loop, read `a.results`."


def test_an_iterator_that_a_reserved_word_hides_is_named_with_what_to_write() -> None:
    loop = "  loop: {in: [1], iterator: job}\n"
    text = f'{WORKFLOW}{loop}  tool: {{kind: noop, result: "{{{{ READ }}}}"}}\n'
    (found,) = load_playbook(text.replace("READ", "job.id"), "f.yaml").findings
    assert (found.rule, found.suggestion) == ("name.reserved", "Write `iter.job`.")
    assert load_playbook(text.replace("READ", "iter.job.id"), "f.yaml").findings == []


def test_a_task_of_the_workbook_may_read_the_names_of_any_loop() -> None:
    book = f'workbook: [{{name: w, tool: {{kind: noop, result: "{LOOP_NAMES}"}}}}]\n'
    loop = "  loop: {in: [1], iterator: row}\n  tool: {kind: workbook, name: w}\n"
    assert load_playbook(f"{book}{WORKFLOW}{loop}", "f.yaml").findings == []


def test_the_names_of_a_loop_are_unknown_without_one() -> None:
    text = WORKFLOW + '  tool: {kind: noop, result: "{{ _index }}"}\n'
    (found,) = load_playbook(text, "f.yaml").findings
    assert found.message == "'_index' exists in the tasks of a loop, and step 'a' has none"


def test_an_expression_error_in_a_block_scalar_stands_at_the_scalar() -> None:
    text = TASK + "      result: |\n        first\n        {{ 1 + }}\n"
    (found,) = load_playbook(text, "f.yaml").findings
    assert (found.rule, found.place.line, found.place.column) == ("expression.syntax", 6, 15)


def test_a_pagination_cycle_with_a_break_is_not_endless() -> None:
    jump = "when: iter.more\n            then: {do: jump, to: t}\n"
    text = RULE + jump + "          - else: {then: {do: break}}\n"
    assert load_playbook(text, "f.yaml").findings == []


def test_the_canonical_seed_step_has_no_strict_findings() -> None:
    router = "  next: {spec: {mode: exclusive}, arcs: []}\n"
    text = RULE + "else: {then: {do: continue, set_ctx: {x: 1}}}\n" + router
    loaded = load_playbook(text, "f.yaml")
    assert (loaded.findings, loaded.strict) == ([], [])


@pytest.mark.parametrize("tool", ["tool: {%s}", "tool: [{a: {%s}}]", "tool: [{name: a, %s}]"])
def test_older_forms_show_todays(tool: str) -> None:
    text = f"{WORKFLOW}  {tool % 'kind: noop, vars: {}'}\n"
    (found,) = load_playbook(text, "f.yaml").findings
    assert (found.rule, found.place.line) == ("dialect.unsupported", 3)
    assert found.suggestion is not None


@pytest.mark.parametrize(
    "tool",
    [
        "  tool: iterator\n",
        "  tool: http\n  url: u\n  retry: {on_error: {}}\n",
        "  tool: http\n  url: u\n  retry: [{when: x}]\n",
        "  tool: {kind: noop}\n  next: {arcs: [{when: ctx.x, then: [{step: a}]}]}\n",
        "  tool: {kind: noop}\n  next: [{when: ctx.x, then: [{step: a, when: ctx.y}]}]\n",
    ],
)
def test_older_forms_inside_known_keys_show_todays(tool: str) -> None:
    (found,) = load_playbook(WORKFLOW + tool, "f.yaml").findings
    assert found.rule == "dialect.unsupported"
    assert found.suggestion is not None


@pytest.mark.parametrize(
    "when",
    [
        "outcome.status == 'error'",
        "{{ outcome.status == 'error' }}",
        "{{ (outcome.status != 'ok') }}",
        "{{ outcome.error }}",
        "true",
    ],
)
def test_a_rule_for_every_error_covers_errors(when: str) -> None:
    text = RULE + f'when: "{when}"\n            then: {{do: fail}}\n'
    assert load_playbook(text, "f.yaml").findings == []


@pytest.mark.parametrize("method", ["GET", "put", "DELETE", '"{{ ctx.m }}"'])
def test_a_request_that_may_be_repeated_is_retried_in_peace(method: str) -> None:
    assert load_playbook(HTTP_RETRY.replace("POST", method), "f.yaml").findings == []


def test_an_idempotency_key_makes_a_retry_safe() -> None:
    text = HTTP_RETRY.replace("method: POST", "method: POST\n      idempotency_key: true")
    assert load_playbook(text, "f.yaml").findings == []


def test_a_kind_that_others_install_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anew.program.kinds.installed_kinds", lambda: frozenset({"kafka"}))
    text = WORKFLOW + "  tool: {kind: kafka, topic: t}\n"
    assert load_playbook(text, "f.yaml").findings == []


def test_a_broken_condition_is_reported_once_per_place() -> None:
    text = (
        "x: &r\n- {when: '{{ 1 + }}', then: {do: fail}}\n- {else: {then: {do: continue}}}\n"
        + TASK
        + "      spec: {policy: {rules: *r}}\n  - u: {kind: noop, spec: {policy: {rules: *r}}}\n"
    )
    found = [f for f in load_playbook(text, "f.yaml").findings if f.rule == "expression.syntax"]
    assert [(f.place.line, f.place.column) for f in found] == [(2, 18)]


def test_an_input_that_is_empty_is_missing() -> None:
    (found,) = load_playbook(WORKFLOW + "  tool:\n    kind: http\n    url:\n", "f.yaml").findings
    assert (found.rule, found.place.line) == ("tool.input-missing", 5)


def test_a_cycle_over_several_tasks_is_endless_too() -> None:
    jump = "{kind: noop, spec: {policy: {rules: [{else: {then: {do: jump, to: t}}}]}}}"
    (found,) = load_playbook(f"{TASK}  - u: {jump}\n", "f.yaml").findings
    assert (found.rule, found.place.line) == ("jump.endless", 6)


@pytest.mark.parametrize(
    "text",
    [
        '  set: {x: "{{ (ctx.x or 0) + 1 }}", y: 2}\n',
        '  set: {x: 1, y: "{{ ctx.x }}"}\n  next: {arcs: [{step: a, set: {x: 3}}]}\n',
        '  set: {x: 1, y: "{{ x }}"}\nworkload: {x: 0}\n',
        '  set: {x: 1, y: "{{ ctx.x }}"}\nctx: {x: 0}\n',
    ],
)
def test_a_value_of_a_set_may_read_what_was_written_before(text: str) -> None:
    assert [f.rule for f in load_playbook(WORKFLOW + text, "f.yaml").findings] == []
