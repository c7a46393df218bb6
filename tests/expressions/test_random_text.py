"""Whatever is written as a template, only ExpressionError comes out, with a place inside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from anew.expressions import (
    UNDEFINED,
    Condition,
    ExpressionError,
    MappingScope,
    TemplateLimits,
    WordAliases,
    compile_condition,
    compile_expression,
    compile_template,
    compile_value,
)
from anew.expressions.filters import FILTERS
from anew.expressions.methods import METHOD_NAMES
from anew.expressions.predicates import PREDICATES
from anew.values import Value, json_text

data = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=6,
)

WORDS = [
    "a",
    "b",
    "c.d",
    "1",
    "0",
    "2.5",
    "-1",
    "'x'",
    "''",
    "true",
    "none",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ":",
    ".",
    "|",
    "~",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "==",
    "!=",
    "<",
    ">=",
    "in",
    "not in",
    "and",
    "or",
    "not",
    "if",
    "else",
    "is",
    "=",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "-%}",
    "{{-",
    "for x in",
    "endfor",
    "endif",
    "set y =",
    "set y",
    "endset",
    "raw",
    "endraw",
    "elif",
    "loop.index",
    "rand()",
    "range(3)",
    "\n",
    "'",
    '"',
    "\\",
    "__class__",
    "é",
    "\x00",
    "attribute='a'",
    "\ud800",
    *(f"|{name}" for name in FILTERS),
    *(f" is {name}" for name in PREDICATES),
    *(f".{name}(" for name in METHOD_NAMES),
]
soup = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
SMALL = TemplateLimits(text_chars_max=2000, operations_max=500, items_max=500)


def check(compile_: Any, source: str, scope: MappingScope) -> None:
    result = outcome(lambda: compile_(source, limits=SMALL).evaluate(scope))
    assert result is UNDEFINED or is_json(result)


def holds(condition: Callable[[], Condition], scope: MappingScope) -> bool:
    return condition().holds(scope)


def outcome(evaluate: Callable[[], Value]) -> Value:
    """What `evaluate` gives; UNDEFINED for an error, once its place has been checked."""
    error = None
    try:
        return evaluate()
    except ExpressionError as raised:
        error = raised
    assert 0 <= error.offset <= len(error.source)
    assert error.message == str(error) != ""
    return UNDEFINED


def is_json(value: Value) -> bool:
    if type(value) is list:
        return all(is_json(item) for item in value)
    if type(value) is dict:
        return all(type(key) is str and is_json(item) for key, item in value.items())
    return type(value) in (str, int, float, bool, type(None))


@given(st.one_of(st.text(), soup), data, data)
def test_random_text(source: str, a: Value, b: Value) -> None:
    scope = MappingScope({"a": a, "b": b, "c": {"d": WordAliases("p", "q")}})
    for compile_ in (compile_expression, compile_template, compile_value):
        check(compile_, source, scope)
    check(compile_template, "{{ " + source + " }}", scope)
    check(compile_template, "{% for x in a %}{{ " + source + " }}{% endfor %}", scope)


@given(st.one_of(st.text(), soup), data)
def test_random_conditions(source: str, a: Value) -> None:
    scope = MappingScope({"a": a})
    for only_true_words in (False, True):
        condition = partial(compile_condition, source, only_true_words=only_true_words)
        verdict = outcome(partial(holds, condition, scope))
        assert verdict is UNDEFINED or type(verdict) is bool


arguments = st.lists(
    st.sampled_from(
        ["a", "b", "1", "-1", "0", "'x'", "none", "gone", "[1]", "{}", "'int'", "2.5", "true"]
    ),
    max_size=3,
)


@given(st.sampled_from(sorted(FILTERS)), arguments, data, data)
def test_filters_with_random_arguments(name: str, given_: list[str], a: Value, b: Value) -> None:
    check(compile_expression, f"a | {name}({', '.join(given_)})", MappingScope({"a": a, "b": b}))


@given(st.sampled_from(sorted(METHOD_NAMES)), arguments, data, data)
def test_methods_with_random_arguments(name: str, given_: list[str], a: Value, b: Value) -> None:
    check(compile_expression, f"a.{name}({', '.join(given_)})", MappingScope({"a": a, "b": b}))


@given(
    st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "~", "<", "==", "in", "and"]), data, data
)
def test_operators_with_random_operands(sign: str, a: Value, b: Value) -> None:
    check(compile_expression, f"a {sign} b", MappingScope({"a": a, "b": b}))


@given(data)
def test_any_value_prints_as_its_json_form(value: Value) -> None:
    scope = MappingScope({"a": value})
    expected = value if isinstance(value, str) else json_text(value)
    assert compile_template("-{{ a }}-").evaluate(scope) == f"-{expected}-"
    assert compile_template("{{ a }}").evaluate(scope) == value
