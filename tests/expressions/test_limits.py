"""Work and output of one evaluation are bounded; what passes a bound is refused, not made."""

from __future__ import annotations

import tracemalloc

import pytest

from anew.expressions import (
    DEFAULT_LIMITS,
    UNDEFINED,
    ExpressionError,
    MappingScope,
    TemplateLimits,
    compile_condition,
    compile_expression,
    compile_template,
    compile_value,
)
from anew.values import Value

BIG_TEXT = "x" * 1_000_000
SCOPE = MappingScope(
    {"big": BIG_TEXT, "rows": list(range(60_000)), "o": {"a": 1}, "million": list(range(900_000))}
)
BOUND = "passes the limit|operations in one evaluation|64 bits|too large|finite|holds more than"
MEMORY_MAX = 80 * 1024 * 1024

REFUSED = [
    "{{ 'a' * 10**9 }}",
    "{{ 10**9 * 'a' }}",
    "{{ [1] * 10**8 }}",
    "{{ 10**8 * [1] }}",
    "{{ 'x' | ljust(10**8) }}",
    "{{ 'x' | rjust(10**8) }}",
    "{{ 'x' | center(10**9) }}",
    "{{ 'a\\nb' | indent(10**8) }}",
    "{{ 10**10**10 }}",
    "{{ 2**64 }}",
    "{{ 9**99999999 }}",
    "{{ (-9)**99999999 }}",
    "{{ 18446744073709551615 + 1 }}",
    "{{ 2**63 * -2 }}",
    "{{ 1e200 * 1e200 }}",
    "{{ 1e200 ** 2 }}",
    "{{ range(10**9) }}",
    "{{ range(0, 10**18, 2) }}",
    "{{ range(0 - 10**18, 10**18) | length }}",
    "{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% endfor %}{% for a in rows %}{% endfor %}",
    "{% for a in range(50) %}{{ big }}{% endfor %}",
    "{{ big ~ big }}",
    "{{ big + big }}",
    "x{{ big }}{{ big }}",
    "{{ big | replace('x', 'yyyy') }}",
    "{{ 'aaaa' | replace('', big) }}",
    "{{ [big, big] | join }}",
    "{{ rows | join(big) }}",
    "{{ [[['x'] * 1000] * 1000] * 1000 }}",
    "{{ [big] * 1000 }}",
    "{{ ([[1] * 900] * 900) | tojson }}",
    "{{ range(50000) | map('replace', '1', big) | list }}",
    "{{ rows | map(attribute='zz', default=big) }}",
    "{{ rows | map('int', big) | map('d', big) | map('get', 'z', big) }}",
    "{{ ([{}] * 50000) | map('get', 'z', big) }}",
    "{{ range(90000) | map('string') | map('int', big) | map('string') | list }}",
    "{{ [1] | batch(10**9, 0) }}",
    "{{ [1] | batch(50000, big) }}",
    "{{ [1] | slice(10**9) }}",
    "{{ [1] | slice(50000, big) }}",
    "{{ big | urlencode | urlencode | escape ~ big }}",
    "{{ million + million }}",
    "{{ big | tojson | tojson ~ big }}",
    "{{ rows | map('string') | map('length') | map('string') | list }}",
    "{% for i in range(40000) %}{% set y = big | upper %}{% endfor %}",
    "{% for i in range(40000) %}{% set y = rows + [i] %}{% endfor %}",
    "{% for i in range(40000) %}{% set y = -1 in rows %}{% endfor %}",
    "{% for i in range(40000) %}{% set y = rows[1:] %}{% endfor %}",
    "{% for i in range(40000) %}{% set y %}{{ rows }}{% endset %}{% endfor %}",
    "{% for i in range(40000) %}{% set y = big == 'a' ~ big %}{% endfor %}",
    "{{ (['x'] * 50000) | map('int', big) }}",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_passes_a_bound_is_refused_before_it_is_made(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ExpressionError, match=BOUND):
            compile_template(text).evaluate(SCOPE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MEMORY_MAX


DOUBLING = "{% set a = [0, 0] %}" + "{% set a = [a, a] %}" * 60


@pytest.mark.parametrize(
    "text",
    [
        "{{ a }}",
        "{{ a | tojson }}",
        "{{ a | tojson(indent=2) }}",
        "{{ a ~ '' }}",
        "{{ a | string }}",
        DOUBLING.replace("a =", "b =").replace("[a, a]", "[b, b]") + "{{ a == b }}",
        DOUBLING.replace("a =", "b =").replace("[a, a]", "[b, b]")
        + "{{ a in [b] }}{{ [a] | select('eq', b) }}",
        DOUBLING.replace("a =", "b =").replace("[a, a]", "[b, b]") + "{{ a < b }}",
        "{{ [a, a] | unique }}",
        "{{ [a] | join }}",
        "{{ a * 2 }}",
        "{{ a | urlencode }}",
        "{{ [a].index(1) }}",
        "{{ [a] | map('d', a) }}",
    ],
)
def test_values_that_share_their_parts_are_counted_as_often_as_they_would_print(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"passes the limit|holds more than|operations"):
        compile_template(DOUBLING + text).evaluate(SCOPE)


def test_texts_that_double_are_refused() -> None:
    with pytest.raises(ExpressionError, match="passes the limit of 1048576"):
        compile_template("{% set a = 'ab' %}" + "{% set a = a + a %}" * 60 + "{{ a }}").evaluate(
            SCOPE
        )


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "[" * 5000 + "]" * 5000,
        "not " * 5000 + "a",
        "-" * 5000 + "1",
        "a" + ".b" * 5000,
        "a" + "[0]" * 5000,
        "a" + " | upper" * 5000,
        "1" + " + 1" * 5000,
        "1" + " ** 1" * 5000,
        "a if b else " * 5000 + "c",
        "a" + " if b" * 5000,
        "{'a':" * 5000 + "1" + "}" * 5000,
        "a[" * 5000 + "1" + "]" * 5000,
        "a" + " is defined" * 5000,
        "range(" * 5000 + ")" * 5000,
        "1" + ".a()" * 3000,
    ],
)
def test_deep_nesting_is_refused_when_compiled(text: str) -> None:
    for compile_ in (compile_expression, compile_condition):
        with pytest.raises(ExpressionError, match="nested more than 100 deep"):
            compile_(text)
    with pytest.raises(ExpressionError, match="nested more than 100 deep"):
        compile_template("a {{ " + text + " }}")


def test_nested_statements_are_bounded() -> None:
    with pytest.raises(ExpressionError, match="nested more than 100 deep"):
        compile_template("{% if a %}" * 200 + "{% endif %}" * 200)


def test_long_flat_expressions_are_not_deep() -> None:
    scope = MappingScope({"a": "x", "f": False})
    assert compile_expression(" ~ ".join(["a"] * 3000)).evaluate(scope) == "x" * 3000
    assert compile_expression(" or ".join(["f"] * 3000)).evaluate(scope) is False
    assert compile_template("{{ a }}" * 3000).evaluate(scope) == "x" * 3000
    assert compile_expression("[" + "1," * 3000 + "]").evaluate(scope) == [1] * 3000
    ladder = "{% if f %}a" + "{% elif f %}b" * 3000 + "{% else %}c{% endif %}"
    assert compile_template(ladder).evaluate(scope) == "c"


def test_an_expression_as_deep_as_allowed_works() -> None:
    assert compile_expression("(" * 90 + "1" + ")" * 90).evaluate(SCOPE) == 1
    assert compile_expression("-" * 90 + "1").evaluate(SCOPE) == 1


def test_values_nested_too_deeply_are_an_expression_error() -> None:
    deep: Value = []
    for _ in range(100_000):
        deep = [deep]
    other: Value = []
    for _ in range(100_000):
        other = [other]
    scope = MappingScope({"deep": deep, "other": other})
    for text in (
        "a{{ deep }}",
        "{{ deep | tojson }}",
        "{{ deep | tojson(2) }}",
        "{{ deep == other }}",
        "{{ deep in [other] }}",
        "{{ deep < other }}",
        "{{ [deep] | unique }}",
    ):
        with pytest.raises(ExpressionError):
            compile_template(text).evaluate(scope)
    with pytest.raises(ExpressionError):
        compile_condition("deep", only_true_words=True).holds(scope)
    with pytest.raises(ExpressionError):
        compile_expression("t | fromjson").evaluate(MappingScope({"t": "[" * 200_000}))


def test_limits_can_be_set() -> None:
    small = TemplateLimits(text_chars_max=10, operations_max=5, items_max=3, depth_max=4)
    scope = MappingScope({"xs": [1, 2, 3]})
    for text in (
        "{{ 'a' * 11 }}",
        "12345678901{{ xs }}",
        "{{ range(6) }}",
        "{{ xs + xs }}",
        "{{ xs | sort | sort }}",
        "{{ ((((1)))) }}",
    ):
        with pytest.raises(ExpressionError):
            compile_template(text, limits=small).evaluate(scope)
    assert compile_template("{{ xs }}", limits=small).evaluate(scope) == [1, 2, 3]
    assert DEFAULT_LIMITS.text_chars_max == 1024 * 1024
    assert DEFAULT_LIMITS.operations_max == 100_000


@pytest.mark.parametrize(
    "text",
    [
        "{{ rows | length }}",
        "{{ rows | sum }}",
        "{% for r in rows %}{{ r }}{% endfor %}",
        "{{ rows | tojson | length }}",
        "{{ big }}",
        "{{ big | length }}",
        "{{ rows | map('string') | length }}",
        "{{ rows[-1] in rows }}",
        "{{ rows | select('even') | first }}",
    ],
)
def test_large_data_within_the_bounds_is_served(text: str) -> None:
    if "map(" in text:
        text = text.replace("rows", "rows[:40000]")
    assert compile_template(text).evaluate(SCOPE) not in (None, "", UNDEFINED)


def test_each_evaluation_has_its_own_budget() -> None:
    template = compile_value({"a": "{{ rows | sum }}", "b": "{{ rows | sum }}"})
    for _ in range(3):
        assert template.evaluate(SCOPE)["b"] == sum(range(60_000))


class Broken(MappingScope):
    def get(self, name: str, /) -> Value:
        raise KeyError(name)


def test_nothing_but_an_expression_error_leaves_an_evaluation() -> None:
    for text in ("{{ a }}", "{{ a + 1 }}", "a{{ b.c }}"):
        with pytest.raises(ExpressionError):
            compile_template(text).evaluate(Broken())
