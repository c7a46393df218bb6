"""Values that need no names are computed once, and are the same as if they were computed each time."""

import pytest

from anew.expressions import MappingScope
from anew.expressions.template import compile_value
from tests.play import play


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ({"a": "{{ 5 }}"}, {"a": 5}),
        (["{{ 'fast' }}", "{{ true }}"], ["fast", True]),
        ({"a": {"b": ["{{ [1] }}", "text"]}, "c": 1}, {"a": {"b": [[1], "text"]}, "c": 1}),
        ({"a": ["{{ 1 + 1 }}"], "b": "{{ name }}"}, {"a": [2], "b": "x"}),
        ([], []),
        ({"a": "{{ nothing }}", "b": ["{{ none }}"]}, {"a": None, "b": [None]}),
        (7, 7),
    ],
)
def test_expressions_inside_objects_and_lists_are_rendered(source, value):
    rendered = compile_value(source).value(MappingScope({"name": "x"}))
    assert rendered == value
    assert repr(rendered) == repr(value)


def test_a_tool_gets_the_values_of_constant_expressions():
    report = play("""
workflow:
  - step: a
    tool: {kind: http, url: "http://x", headers: {X-Mode: "{{ 'fast' }}"}, params: {n: "{{ 5 }}"}}
    next: [{step: b, args: {flag: "{{ true }}"}}]
  - step: b
    loop: {in: ["{{ 1 }}", "{{ 2 }}"], iterator: n}
    tool: {kind: noop, result: "{{ args.flag }}"}
""")
    inputs = [
        row["data"].get("inputs") for row in report["events"] if row["name"] == "task.started"
    ]
    assert inputs[0]["headers"] == {"X-Mode": "fast"}
    assert inputs[0]["params"] == {"n": 5}
    started = next(row for row in report["events"] if row["name"] == "loop.started")
    assert started["data"]["items"] == [1, 2]
    assert inputs[1] == {"result": True}
