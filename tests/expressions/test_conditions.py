"""When conditions hold, and what templates and conditions say they read."""

from __future__ import annotations

import pytest

from anew.expressions import (
    ExpressionError,
    MappingScope,
    compile_condition,
    compile_expression,
    compile_template,
)
from anew.values import Value


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "false",
        "False",
        "0",
        "no",
        "NO",
        "none",
        "null",
        "off",
        " Off\n",
        False,
        0,
        0.0,
        None,
        [],
        {},
    ],
)
def test_false_values(value: Value) -> None:
    assert compile_condition("x").holds(MappingScope({"x": value})) is False
    assert compile_condition("{{ x }}").holds(MappingScope({"x": value})) is False


@pytest.mark.parametrize(
    "value", ["true", "yes", "1", "anything", "[]", True, 1, -1, 0.5, [0], {"a": 0}]
)
def test_true_values(value: Value) -> None:
    assert compile_condition("x").holds(MappingScope({"x": value})) is True
    assert compile_condition("{{ x }}").holds(MappingScope({"x": value})) is True


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("true", True),
        ("True", True),
        ("1", True),
        (" YES ", True),
        (True, True),
        (1, True),
        ("on", False),
        (2, False),
        ([1], False),
        ("anything", False),
        (False, False),
        (None, False),
        (1.0, False),
    ],
)
def test_only_true_words(value: Value, verdict: bool) -> None:
    for text in ("x", "{{ x }}", " {{ x }}\n"):
        condition = compile_condition(text, only_true_words=True)
        assert condition.holds(MappingScope({"x": value})) is verdict
    assert compile_condition("gone", only_true_words=True).holds(MappingScope()) is False


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (True, True),
        (False, False),
        (1, True),
        (0, False),
        (None, False),
        ("", False),
        ("  ", False),
        (0.0, False),
    ],
)
def test_constants(source: str | bool | int | float | None, verdict: bool) -> None:
    condition = compile_condition(source)
    assert condition.holds(MappingScope()) is verdict
    assert condition.is_constant
    assert condition.source == source


def test_white_space_around_braces_does_not_make_a_condition_text() -> None:
    scope = MappingScope({"xs": []})
    assert compile_condition("  {{ xs }}\n").holds(scope) is False
    assert compile_condition("{% if xs %}yes{% else %}no{% endif %}").holds(scope) is False
    assert compile_condition("{{ xs }} {{ xs }}").holds(scope) is True


def test_undefined_is_false_and_errors_are_raised() -> None:
    assert compile_condition("gone.away").holds(MappingScope()) is False
    with pytest.raises(ExpressionError, match="is undefined"):
        compile_condition("gone + 1").holds(MappingScope())


def test_what_a_template_reads() -> None:
    template = compile_expression(
        "outcome.http.status >= 500 and ctx['a'].b[0].c and rows[i].id"
        " and rand() > x | default(y.z)"
    )
    assert template.names == {"outcome", "ctx", "rows", "i", "x", "y"}
    assert template.paths == {
        ("outcome", "http", "status"),
        ("ctx", "a", "b"),
        ("rows",),
        ("i",),
        ("x",),
        ("y", "z"),
    }
    assert template.calls == {"rand"}


def test_variables_of_statements_are_not_read_from_the_scope() -> None:
    template = compile_template(
        "{{ before }}{% for x in x.rows %}{{ x.id }}{{ loop.index }}{{ other }}{% endfor %}"
        "{% set before = y %}{{ before.z }}{{ x }}{{ loop }}"
    )
    assert template.names == {"before", "x", "other", "y", "loop"}
    assert template.paths == {("before",), ("x", "rows"), ("other",), ("y",), ("x",), ("loop",)}


def test_constant_comparisons_are_known_to_the_checker() -> None:
    condition = compile_condition(
        "outcome.status == 'success' or 'x' != event.name or a.b in ['p', 'q', 1] or c is eq 'r'"
        " or d['e'] not in ('s', 't') or f == g or h == 5"
    )
    assert condition.compares == {
        (("outcome", "status"), "success"),
        (("event", "name"), "x"),
        (("a", "b"), "p"),
        (("a", "b"), "q"),
        (("c",), "r"),
        (("d", "e"), "s"),
        (("d", "e"), "t"),
    }
    assert condition.names == {"outcome", "event", "a", "c", "d", "f", "g", "h"}
    assert ("outcome", "status") in condition.paths
