"""Which values templates give: native types, text, nested values, statements."""

from __future__ import annotations

import pytest

from anew.expressions import (
    UNDEFINED,
    ExpressionError,
    MappingScope,
    compile_template,
    compile_value,
)
from anew.values import Value

SCOPE = MappingScope(
    {
        "n": 5,
        "yes": True,
        "none": None,
        "f": 1.0,
        "o": {"a": [1, "é"]},
        "s": "text",
        "xs": [1, 2, 3],
        "d": {"k": "v", "l": "w"},
        "x": "outer",
        "rows": [{"g": "b", "v": 1}, {"g": "a", "v": 2}, {"g": "b", "v": 3}],
    }
)


def render(text: str) -> Value:
    return compile_template(text).evaluate(SCOPE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ n }}", 5),
        ("{{n}}", 5),
        ("{{ yes }}", True),
        ("{{ none }}", None),
        ("{{ o }}", {"a": [1, "é"]}),
        ("{{- n -}}", 5),
        ("{{ {'a': {'b': 1}}}}", {"a": {"b": 1}}),
        ("{{ '}}' }}", "}}"),
        ("{{ '5' }}", "5"),
    ],
)
def test_one_expression_alone_keeps_its_type(text: str, value: Value) -> None:
    result = render(text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("plain }} text", "plain }} text"),
        (" {{ n }}", " 5"),
        ("{{ n }}\n", "5\n"),
        ("{{ n }}{{ n }}", "55"),
        ("a {{ yes }} b", "a true b"),
        ("-{{ none }}-", "-null-"),
        ("-{{ zz }}-", "--"),
        ("-{{ f }}-", "-1.0-"),
        ("-{{ o }}-", '-{"a": [1, "é"]}-'),
        ("-{{ s }}-", "-text-"),
        ("{# note #}", ""),
        ("a{# {{ n }} #}b", "ab"),
        ("{% raw %}{{ n }}{% if %}{% endraw %}", "{{ n }}{% if %}"),
        ("a  {{- n -}}  b", "a5b"),
        ("a {%- if yes -%} x {%- endif -%} b", "axb"),
        ("a {#- c -#} b", "ab"),
        ("a {%- raw -%} x {%- endraw -%} b", "axb"),
        ("a {%+ if yes +%} x{% endif %}", "a  x"),
        ("line\n", "line\n"),
        ("{% if yes %}a{% endif %}\n", "a\n"),
    ],
)
def test_anything_else_is_text(text: str, value: str) -> None:
    result = render(text)
    assert result == value
    assert type(result) is str


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{% if n > 9 %}a{% elif n > 4 %}b{% else %}c{% endif %}", "b"),
        ("{% if zz %}a{% else %}c{% endif %}", "c"),
        ("{% if zz %}a{% endif %}", ""),
        ("{% for x in xs %}{{ x }},{% endfor %}", "1,2,3,"),
        ("{% for x in xs %}{% endfor %}{{ x }}", "outer"),
        ("{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "k=v;l=w;"),
        ("{% for k in d %}{{ k }}{% endfor %}", "kl"),
        ("{% for c in s %}{{ c }}.{% endfor %}", "t.e.x.t."),
        ("{% for x in zz %}a{% else %}none{% endfor %}", "none"),
        ("{% for x in [] %}a{% else %}none{% endfor %}", "none"),
        (
            "{% for x in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}"
            "/{{ loop.length }} {% endfor %}",
            "10truefalse/3 21falsefalse/3 32falsetrue/3 ",
        ),
        ("{% for x in xs if x != 2 %}{{ loop.index }}:{{ x }} {% endfor %}", "1:1 2:3 "),
        (
            "{% for x in xs %}{% for y in xs %}{{ x * y }} {% endfor %}{% endfor %}",
            "1 2 3 2 4 6 3 6 9 ",
        ),
        ("{% for x in 1, 2 %}{{ x }}{% endfor %}", "12"),
        (
            "{% for g, items in rows | groupby('g') %}{{ g }}:{{ items | length }} {% endfor %}",
            "a:1 b:2 ",
        ),
        ("{% for r in rows %}{{ r.v }}{{ r.zz }}{% endfor %}", "123"),
        ("{% set y = n + 1 %}{{ y }}{{ n }}", "65"),
        ("{% for y in [] %}{% else %}{% set q = 1 %}{% endfor %}{{ q }}", ""),
        ("{% set q = 0 %}{% for y in [] %}{% else %}{% set q = 1 %}{% endfor %}{{ q }}", "0"),
        ("{% set a, b = 1, 2 %}{{ a + b }}", "3"),
        ("{% set y %}<{{ n }}>{% endset %}{{ y }}{{ y }}", "<5><5>"),
        ("{% if yes %}{% set x = 1 %}{% endif %}{{ x }}", "1"),
        ("{% if zz %}{% set x = 1 %}{% endif %}{{ x }}", "outer"),
        ("{% set t = 0 %}{% for x in xs %}{% set t = t + x %}{{ t }}{% endfor %}{{ t }}", "1230"),
        ("{% for i in xs %}{{ y | default('-') }}{% set y = i %}{% endfor %}", "---"),
        ("{% set x = 1 %}{% set y %}{% set x = 2 %}{{ x }}{% endset %}{{ x }}{{ y }}", "12"),
    ],
)
def test_statements(text: str, value: str) -> None:
    assert render(text) == value


@pytest.mark.parametrize(
    ("text", "offset", "part"),
    [
        ("{{ n", 0, "never closed by '}}'"),
        ("a {% if n", 2, "never closed by '%}'"),
        ("{# a", 0, "never closed by '#}'"),
        ("{% raw %}x", 0, "endraw"),
        ("{{ }}", 3, "expected a value"),
        ("{% %}", 3, "nothing is not a statement"),
        ("{% if n %}a", 0, "never closed by 'endif'"),
        ("a{% endif %}", 4, "ends nothing"),
        ("{% for x in xs %}{% endif %}", 20, "does not belong to the 'for'"),
        ("{% for x xs %}{% endfor %}", 9, "expected 'in'"),
        ("{% for 1 in xs %}", 7, "expected a name"),
        ("{% for x in xs recursive %}{% endfor %}", 15, "expected the end"),
        ("{% set a.b = 1 %}", 8, "expected the end"),
        ("{% else %}", 3, "ends nothing"),
        ("{% if n %}{% else %}{% else %}{% endif %}", 23, "does not belong"),
        ("{% include 'a' %}", 3, "'include' is not a statement of templates. Allowed: if,"),
        ("{% macro m() %}{% endmacro %}", 3, "'macro'"),
        ("{% import 'a' as b %}", 3, "'import'"),
        ("{% extends 'a' %}", 3, "'extends'"),
        ("{% block a %}", 3, "'block'"),
        ("{% call m() %}", 3, "'call'"),
        ("{% with a = 1 %}", 3, "'with'"),
        ("{% filter upper %}", 3, "'filter'"),
        ("{% do 1 %}", 3, "'do'"),
    ],
)
def test_errors_in_text_say_where_and_what(text: str, offset: int, part: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_template(text)
    assert part in caught.value.message
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{% for x in n %}{% endfor %}", "'for' needs a list, found a number"),
        ("{% for x in none %}{% endfor %}", "found null"),
        ("{% for a, b in xs %}{% endfor %}", "taken apart"),
        ("{% set a, b = [1] %}", "a list of 1"),
        ("{% for x in xs %}{{ x / 0 }}{% endfor %}", "division by zero"),
    ],
)
def test_statements_that_cannot_be_done(text: str, part: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        render(text)
    assert part in caught.value.message


def test_nested_values_are_rendered_and_keys_are_not() -> None:
    value = {
        "{{ n }}": "{{ n }}",
        "list": ["{{ s }}", "a{{ n }}", 7, {"z": "{{ zz }}"}],
        "c": {"k": [1]},
    }
    template = compile_value(value)
    made = template.evaluate(SCOPE)
    assert made == {"{{ n }}": 5, "list": ["text", "a5", 7, {"z": None}], "c": {"k": [1]}}
    assert made["c"] is value["c"]
    assert template.names == {"n", "s", "zz"}
    assert template.source is value


def test_constants_are_given_back_as_they_are() -> None:
    for value in ({"a": [1, "b", None]}, [1, 2], "text", 5, None, True):
        template = compile_value(value)
        assert template.is_constant
        assert template.evaluate(SCOPE) is value
        assert template.names == frozenset()


def test_rendered_values_are_not_rendered_again() -> None:
    scope = MappingScope({"a": "{{ b }}", "b": "secret"})
    assert compile_template("{{ a }}").evaluate(scope) == "{{ b }}"
    assert compile_template("-{{ a }}").evaluate(scope) == "-{{ b }}"


def test_undefined_alone_is_undefined_and_its_value_none() -> None:
    assert compile_value("{{ zz }}").evaluate(SCOPE) is UNDEFINED
    assert compile_value("{{ zz }}").value(SCOPE) is None
    assert compile_value(["{{ zz }}"]).evaluate(SCOPE) == [None]


def test_a_literal_in_braces_is_constant() -> None:
    assert compile_template("{{ [1, 'a', {'b': none}] }}").is_constant
    assert not compile_template("{{ n }}").is_constant
    assert not compile_template("{{ rand() }}").is_constant
