"""The line of a finding follows one rule in every layout, and hostile text is only ever reported.

A wrong value is reported where it stands, a duplicate where it comes again, something absent at
the key or dash that holds what should contain it.
"""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.program.findings import Severity

STEP = "workflow:\n- step: a\n"
TASK = STEP + "  tool:\n  - t:\n      kind: noop\n"
RULES = TASK + "      spec:\n        policy:\n          rules:\n"
FLOW_TASK = "workflow: [{step: a, tool: [\n {t: {kind: noop, spec: {policy: {rules: [\n  "


def errors_of(text: str | bytes) -> list[tuple[str, int]]:
    findings = load_playbook(text, "f.yaml").findings
    return [(f.rule, f.place.line) for f in findings if f.severity is Severity.ERROR]


# what is absent, document, line
ABSENT: list[tuple[str, str, int]] = [
    ("tool.input-missing", STEP + "  tool:\n    kind: http\n", 3),
    ("tool.input-missing", STEP + "  tool:\n  -\n    name: t\n    kind: http\n", 4),
    ("tool.input-missing", STEP + "  tool:\n  -\n    t:\n      kind: http\n", 5),
    ("tool.input-missing", STEP + "  tool: http\n  method: GET\n", 2),
    ("tool.input-missing", "workflow: [\n {step: a,\n  tool: {kind: http}}]\n", 3),
    ("tool.kind-missing", STEP + "  tool:\n  - # first\n    name: t\n    url: u\n", 4),
    ("step.name", "workflow:\n-\n  tool: {kind: noop}\n", 2),
    ("loop.in-missing", STEP + "  loop:\n    iterator: i\n", 3),
    ("loop.iterator-missing", "workflow: [{step: a,\n loop: {in: [1]}}]\n", 2),
    ("tool.input-missing", STEP + "  tool:\n  - x:\n      tool:\n        kind: http\n", 5),
    ("tool.input-missing", "workbook:\n- name: w\n  tool: {kind: http}\n" + STEP, 3),
    ("tool.kind-missing", STEP + "  tool:\n  - name: x\n    tool: {url: u}\n", 5),
    ("arc.step-missing", STEP + "  next:\n    arcs:\n    -\n      when: 'true'\n", 5),
    ("next.shape", STEP + "  next:\n    spec: {mode: exclusive}\n", 3),
    ("policy.shape", TASK + "      spec:\n        policy:\n          on_unmatched: fail\n", 7),
    ("rule.then-missing", RULES + "          -\n            when: outcome.error\n", 9),
    ("rule.then-missing", FLOW_TASK + "{when: outcome.error}]}}}}]}]\n", 3),
    (
        "rule.jump-to-missing",
        RULES + "          - when: outcome.error\n            then:\n              do: jump\n",
        10,
    ),
    ("rule.jump-to-missing", FLOW_TASK + "{else: {then: {do: jump}}}]}}}}]}]\n", 3),
    ("rule.jump-to-missing", FLOW_TASK + "{else:\n   {then:\n    {do: jump}}}]}}}}]}]\n", 5),
    ("loop.in-missing", STEP + "  loop:\n    {iterator: i}\n", 4),
    ("tool.input-missing", "workflow: [{step: a, tool:\n {kind: http}}]\n", 2),
    ("tool.input-missing", "x-t: &t {kind: http}\nworkflow:\n- step: a\n  tool: *t\n", 4),
    ("rule.jump-to-missing", TASK + "      eval:\n      - expr: 'true'\n        do: jump\n", 7),
    ("workflow.missing", "apiVersion: noetl.io/v2\nkind: Playbook\n", 1),
]


@pytest.mark.parametrize(("rule", "text", "line"), ABSENT)
def test_what_is_absent_is_reported_at_its_holder(rule: str, text: str, line: int) -> None:
    assert errors_of(text) == [(rule, line)]


def test_a_loop_with_nothing_in_it_lacks_both_of_its_parts() -> None:
    found = errors_of(STEP + "  tool: {kind: noop}\n  loop:\n")
    assert found == [("loop.in-missing", 4), ("loop.iterator-missing", 4)]


def test_an_empty_iterator_is_missing() -> None:
    found = errors_of(STEP + "  loop:\n    in: [1]\n    iterator: ''\n")
    assert found == [("loop.iterator-missing", 5)]


# what comes again, document, line
AGAIN: list[tuple[str, str, int]] = [
    ("step.duplicate", STEP + "- tool: {kind: noop}\n  step: a\n", 4),
    ("step.duplicate", "workflow: [{step: a},\n {step: a}]\n", 2),
    ("task.duplicate", STEP + "  tool:\n  - kind: noop\n  - name: task_0\n    kind: noop\n", 5),
    ("task.duplicate", STEP + "  tool: [{t: {kind: noop}},\n   {t: {kind: noop}}]\n", 4),
    ("yaml.duplicate-key", STEP + "  tool: {kind: noop}\n  tool: {kind: noop}\n", 4),
    ("yaml.duplicate-key", "workload: {a: 1,\n 'a': 2}\n" + STEP, 2),
]


@pytest.mark.parametrize(("rule", "text", "line"), AGAIN)
def test_what_comes_again_is_reported_where_it_comes_again(rule: str, text: str, line: int) -> None:
    assert errors_of(text) == [(rule, line)]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_and_columns_do_not_depend_on_how_the_file_was_saved(
    line_break: str, mark: str
) -> None:
    text = mark + (STEP + "  tool:\n    kind: htp\n").replace("\n", line_break)
    (found,) = load_playbook(text.encode(), "f.yaml").findings
    assert (found.rule, found.place.line, found.place.column) == ("tool.kind", 4, 11)
    assert found.suggestion == "Did you mean 'http'?"


@pytest.mark.parametrize(
    "text",
    [
        STEP + "  tool: {kind: noop, result: '{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}'}\n",
        STEP + "  tool: {kind: noop, result: '{{ " + "not " * 5000 + "1 }}'}\n",
        STEP + "  tool: {kind: noop, result: '" + "{% if 1 %}" * 500 + "{% endif %}" * 500 + "'}\n",
    ],
    ids=["parentheses", "not", "statements"],
)
def test_an_expression_too_deep_to_follow_is_one_error(text: str) -> None:
    assert errors_of(text) == [("expression.syntax", 3)]


@pytest.mark.parametrize("word", ["NO", "on", "off", "yes", "12:30", "2020-01-01", "0x1F", "1_000"])
def test_a_word_of_older_yaml_stays_the_text_it_looks_like(word: str) -> None:
    program = load_playbook(f"workload: {{value: {word}}}\n" + STEP, "f.yaml").program
    assert program is not None
    assert program.workload == {"value": word}
