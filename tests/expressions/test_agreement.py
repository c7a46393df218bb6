"""Where Jinja2 and expressions.md agree, Jinja2 and Anew give the same values.

The data has no floats that overflow and no undefined names: there the two differ on purpose.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st
from jinja2 import Environment

from anew.expressions import ExpressionError, MappingScope, compile_expression, compile_template

DATA: dict[str, Any] = {
    "i": 7,
    "j": -3,
    "z": 0,
    "f": 2.5,
    "t": True,
    "s": "Hello World",
    "e": "",
    "xs": [3, 1, 2],
    "ys": ["b", "A", "c"],
    "o": {"a": 1, "b": {"c": [10, 20]}},
    "rows": [{"id": 2, "n": "x"}, {"id": 1, "n": "y"}],
    "none": None,
}
SCOPE = MappingScope(DATA)
JINJA = Environment(keep_trailing_newline=True)

numbers = st.one_of(
    st.sampled_from(
        [
            "i",
            "j",
            "z",
            "f",
            "t",
            "o.a",
            "o.b.c[1]",
            "xs[0]",
            "rows[1].id",
            "xs | length",
            "s | length",
        ]
    ),
    st.integers(0, 50).map(str),
    st.sampled_from(["0.5", "1.25", "true", "false"]),
)
texts = st.sampled_from(
    ["s", "e", "'a'", "'Hello'", '"x y"', "ys[0]", "rows[0].n", "ys[-1]", "'aXb'"]
)
lists = st.sampled_from(
    [
        "xs",
        "ys",
        "[]",
        "[1, 2]",
        "['a', 'b']",
        "o.b.c",
        "xs[1:]",
        "ys[::-1]",
        "(range(4) | list)",
        "((1, 2) | list)",
    ]
)


def _arithmetic(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from(["+", "-", "*", "/", "//", "%"])
    return st.one_of(
        st.tuples(inner, signs, inner).map(" ".join),
        st.tuples(inner, signs, inner).map(lambda p: f"({' '.join(p)})"),
        inner.map(lambda a: f"-{a}"),
        st.tuples(inner, st.sampled_from(["2", "3"])).map(lambda p: f"{p[0]} ** {p[1]}"),
        inner.map(lambda a: f"({a}) | abs"),
        inner.map(lambda a: f"({a}) | int"),
        inner.map(lambda a: f"({a}) | float"),
        inner.map(lambda a: f"({a}) | round(1)"),
    )


def _text(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    filters = st.sampled_from(
        [
            "lower",
            "upper",
            "trim",
            "title",
            "capitalize",
            "replace('l', 'L')",
            "reverse",
            "center(12)",
            "truncate(5, true, '.')",
            "indent(2)",
            "default('x')",
            "string",
            "first | default('-')",
            "last | default('-')",
            "wordcount | string",
            "list | join('-')",
        ]
    )
    return st.one_of(
        st.tuples(inner, filters).map(lambda p: f"({p[0]}) | {p[1]}"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} ~ {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} + {p[1]})"),
        inner.map(lambda a: f"({a})[1:4]"),
        inner.map(lambda a: f"({a}).upper()"),
        inner.map(lambda a: f"({a}) * 2"),
    )


arithmetic = st.recursive(numbers, _arithmetic, max_leaves=8)
text = st.recursive(texts, _text, max_leaves=5)
listing = st.tuples(
    lists,
    st.sampled_from(
        [
            "",
            " | sort",
            " | reverse | list",
            " | unique | list",
            " | map('string') | list",
            " | batch(2) | list",
            " | list",
            " + [1]",
            " | select | list",
            " * 2",
            "[:2]",
            " | slice(2) | list",
            " | sort(reverse=true)",
            " | map('string') | map('upper') | list",
        ]
    ),
).map("".join)

comparisons = st.one_of(
    st.tuples(arithmetic, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), arithmetic).map(
        " ".join
    ),
    st.tuples(text, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]), text).map(
        " ".join
    ),
    st.tuples(numbers, st.sampled_from(["in", "not in"]), lists).map(" ".join),
    st.tuples(numbers, numbers, numbers).map(lambda p: f"{p[0]} < {p[1]} <= {p[2]}"),
    st.tuples(
        st.one_of(numbers, texts, lists, st.just("none"), st.just("o")),
        st.sampled_from(["is", "is not"]),
        st.sampled_from(
            [
                "defined",
                "none",
                "string",
                "number",
                "mapping",
                "sequence",
                "iterable",
                "boolean",
                "integer",
                "float",
            ]
        ),
    ).map(" ".join),
)


def _logic(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map(lambda a: f"not {a}"),
        inner.map(lambda a: f"({a})"),
    )


logic = st.recursive(st.one_of(comparisons, numbers, texts, lists), _logic, max_leaves=6)
choices = st.tuples(st.one_of(arithmetic, text), logic, st.one_of(text, listing)).map(
    lambda p: f"{p[0]} if {p[1]} else {p[2]}"
)
expressions = st.one_of(arithmetic, text, listing, logic, choices)


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


@given(expressions)
def test_expressions_agree(source: str) -> None:
    note(source)
    try:
        theirs = _plain(JINJA.compile_expression(source, undefined_to_none=False)(**DATA))
    except (TypeError, ZeroDivisionError, OverflowError):
        theirs = ExpressionError
    try:
        ours = compile_expression(source).evaluate(SCOPE)
    except ExpressionError as error:
        # A bound of ours that Jinja2 does not have.
        if "64 bits" in error.message or "finite" in error.message:
            return
        ours = ExpressionError
    assert ours == theirs
    assert type(ours) is type(theirs)


def _statements(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(logic, inner, inner).map(
            lambda p: f"{{% if {p[0]} %}}{p[1]}{{% else %}}{p[2]}{{% endif %}}"
        ),
        st.tuples(logic, inner).map(lambda p: f"{{%- if {p[0]} -%}} {p[1]} {{%- endif %}}"),
        st.tuples(lists, inner).map(
            lambda p: f"{{% for x in {p[0]} %}}{p[1]}{{{{ loop.index }}}}{{% endfor %}}"
        ),
        st.tuples(lists, inner).map(
            lambda p: (
                f"{{% for i in {p[0]} if loop is defined or i %}}{p[1]}{{% else %}}-{{% endfor %}}"
            )
        ),
        st.tuples(text, inner).map(lambda p: f"{{% set s = {p[0]} %}}{p[1]}{{{{ s }}}}"),
        st.tuples(inner, inner).map("".join),
        inner.map(lambda a: f"{{# note #}}{a}{{% raw %}}{{{{ s }}}}{{% endraw %}}"),
    )


pieces = st.one_of(
    st.sampled_from(
        [
            "a",
            " ",
            "\n",
            "}}",
            "{{ s }}",
            "{{ s -}} ",
            " {{- i }}",
            "{{ xs | length }}",
            "{{ 'q' if t }}",
            "{{ gone }}",
        ]
    ),
    text.map(lambda e: f"{{{{ {e} }}}}"),
)
templates = st.recursive(pieces, _statements, max_leaves=6)


@given(templates)
def test_texts_agree(source: str) -> None:
    note(source)
    # A leading mark makes it text: alone, an expression would keep its type.
    source = "=" + source
    try:
        theirs = JINJA.from_string(source).render(DATA)
    except (TypeError, ZeroDivisionError):
        theirs = None
    try:
        ours = compile_template(source).evaluate(SCOPE)
    except ExpressionError:
        ours = None
    assert ours == theirs
