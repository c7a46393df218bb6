"""What the check says of Python code: templates in it, and `libs` (tools/python.md#inputs)."""

from __future__ import annotations

import json

import pytest

from anew.languages.playbook import load_playbook
from anew.program.findings import Finding, Severity

DOCUMENT = """
workload: {{url: "http://x", items: [1]}}
workflow:
- step: start
  tool: {{kind: noop}}
  next: run
- step: run
  loop: {{in: "{{{{ workload.items }}}}", iterator: row}}
  tool:
    kind: python
    code: {code}
    {more}
"""


def findings(code: str, more: str = "") -> list[Finding]:
    text = DOCUMENT.format(code=json.dumps(code), more=more)
    return load_playbook(text, "f.yaml").findings


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("x = {{ workload.url }}", "url"),
        ("x = {'a': {{ row }}, 'b': {{ row }} * 2}", "row"),
        ("{{ start }}", "start"),
        ("x = '{{ execution_id }}'", "execution_id"),
        ("x = 'at {{ now() }}'", "value"),
        ("def main():\n    return {'u': \"{{ url }}\"}", "url"),
        ("x = [1]\ny = '''\n{{ workload.items[0] }}'''", "value"),
        ("x = {{ a | default(1 }}", "value"),
        ("if {{ workload.url | length }} > 3: y = 1", "value"),
    ],
)
def test_a_template_in_code_is_refused_with_what_to_write(code: str, name: str) -> None:
    (found,) = findings(code)
    assert (found.rule, found.severity) == ("code.template", Severity.ERROR)
    assert found.suggestion is not None
    assert found.suggestion.startswith(f"Pass it with `input: {{{name}: ")
    assert found.suggestion.endswith(f"and read `{name}` in the code.")


@pytest.mark.parametrize(
    "code",
    [
        "x = f'{{x}} {1}'",
        "x = f'{{{1}}}'",
        "x = f'{{{{ workload.url }}}}'",
        "x = '{{ url }} {}'.format(1)",
        "x = '{{ url }} {a}'.format_map({'a': 1})",
        "# {{ workload.url }}\nx = 1",
        '"""Reads {{ workload.url }}."""\nx = 1',
        "def main():\n    '''{{ url }}'''\n    return 1",
        "x = {1: {2: 3}}",
        "x = {(1, 2)}",
        "x = '{{'",
        "x = '{% raw'",
    ],
)
def test_braces_that_mean_something_to_python_are_left_alone(code: str) -> None:
    assert findings(code) == []


@pytest.mark.parametrize("inside", ["{{ workload.url }}", "{{start.x}} {1}"])
def test_a_template_in_an_f_string_is_a_warning(inside: str) -> None:
    (found,) = findings(f"x = f'{inside}'")
    assert (found.rule, found.severity) == ("code.braces", Severity.WARNING)


def test_a_statement_in_code_is_to_be_written_in_python() -> None:
    (found,) = findings("{% if x %}result=1{% endif %}")
    assert found.rule == "code.template"
    assert found.suggestion is not None
    assert found.suggestion.startswith("Pass what it reads with `input`, and write it as Python")


def test_a_text_that_only_looks_like_a_template_is_a_warning() -> None:
    (found,) = findings("page = 'Dear {{ customer }}'")
    assert (found.rule, found.severity) == ("code.braces", Severity.WARNING)
    assert found.message == "{{ customer }} is in Python code (line 1) and stays as it is"


def test_libs_by_name_are_accepted_and_never_rendered() -> None:
    libs = "libs: {pd: pandas, storage: {from: google.cloud, import: storage}}"
    assert findings("x = 1", libs) == []


def test_libs_as_a_list_has_no_effect_and_is_not_handed_to_the_tool() -> None:
    text = DOCUMENT.format(code="x = 1", more="libs: [pandas]")
    loaded = load_playbook(text, "f.yaml")
    (found,) = loaded.findings
    assert (found.rule, found.severity) == ("key.without-effect", Severity.INFO)
    assert loaded.program is not None
    assert loaded.program.steps["run"].tasks[0].inputs.source == {"code": "x = 1"}


@pytest.mark.parametrize(
    "libs",
    [
        "pandas",
        "{pd: 3}",
        "{pd: {from: pandas}}",
        "{pd: [pandas]}",
        '{pd: "{{ url }}"}',
        "{a-b: c}",
    ],
)
def test_libs_that_name_no_module_are_reported(libs: str) -> None:
    (found,) = findings("x = 1", f"libs: {libs}")
    assert found.rule == "tool.input"
