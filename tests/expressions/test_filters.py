"""What each filter and each test answers."""

from __future__ import annotations

import pytest

from anew.expressions import ExpressionError, MappingScope, compile_expression
from anew.expressions.filters import FILTERS
from anew.expressions.predicates import PREDICATES
from anew.values import Value

ROWS = [
    {"id": 2, "name": "b", "ok": True, "tag": {"x": 1}},
    {"id": 1, "name": "A", "ok": False},
    {"id": 3, "name": "c", "ok": True},
]
SCOPE = MappingScope(
    {"rows": ROWS, "o": {"b": 1, "a": 2}, "xs": [3, 1, 2], "nested": {"a": [1, {"b": 2}]}}
)

CASES: list[tuple[str, Value]] = [
    ("o | tojson", '{"b": 1, "a": 2}'),
    ("'é' | tojson", '"é"'),
    ("[1] | tojson(indent=2)", "[\n  1\n]"),
    ("'[1, 2.5]' | fromjson", [1, 2.5]),
    ("'5' | int", 5),
    ("'5.9' | int", 5),
    ("5.9 | int", 5),
    ("'x' | int", 0),
    ("'x' | int(-1)", -1),
    ("'ff' | int(0, 16)", 255),
    ("'0b11' | int(base=0)", 3),
    ("none | int", 0),
    ("true | int", 1),
    ("[] | int", 0),
    ("'inf' | int", 0),
    ("'1.5' | float", 1.5),
    ("'x' | float", 0.0),
    ("'x' | float(2.0)", 2.0),
    ("'nan' | float(1)", 1),
    ("5 | float", 5.0),
    ("5 | string", "5"),
    ("none | string", "null"),
    ("true | string", "true"),
    ("'off' | bool", False),
    ("'on' | bool", True),
    ("xs | length", 3),
    ("o | count", 2),
    ("'abc' | len", 3),
    ("'AbC' | lower", "abc"),
    ("'AbC' | upper", "ABC"),
    ("true | lower", "true"),
    ("' a ' | trim", "a"),
    ("'xax' | trim('x')", "a"),
    ("'aaa' | replace('a', 'b')", "bbb"),
    ("'aaa' | replace('a', 'b', 2)", "bba"),
    ("'a,b' | split(',')", ["a", "b"]),
    ("' a  b ' | split", ["a", "b"]),
    ("'a,b,c' | split(',', 1)", ["a", "b,c"]),
    ("xs | join(', ')", "3, 1, 2"),
    ("rows | join('-', attribute='id')", "2-1-3"),
    ("[none, true] | join", "nulltrue"),
    ("xs | first", 3),
    ("xs | last", 2),
    ("'abc' | last", "c"),
    ("o | first", "b"),
    ("'hi' | b64encode", "aGk="),
    ("'aGk=' | b64decode", "hi"),
    ("o | keys", ["b", "a"]),
    ("o | values", [1, 2]),
    ("o | items", [["b", 1], ["a", 2]]),
    ("o | get('a')", 2),
    ("o | get('z', 5)", 5),
    ("'a' | safe", "a"),
    ("-3 | abs", 3),
    ("2.567 | round(2)", 2.57),
    ("2.5 | round", 2.0),
    ("2.1 | round(method='ceil')", 3.0),
    ("2.19 | round(1, 'floor')", 2.1),
    ("42 | round", 42),
    ("xs | min", 1),
    ("xs | max", 3),
    ("rows | max(attribute='id') | get('name')", "c"),
    ("xs | sum", 6),
    ("rows | sum('id', 10)", 16),
    ("[[1], [2]] | sum(start=[])", [1, 2]),
    ("xs | sort", [1, 2, 3]),
    ("xs | sort(reverse=true)", [3, 2, 1]),
    ("['b', 'A'] | sort", ["A", "b"]),
    ("['b', 'C'] | sort(case_sensitive=true)", ["C", "b"]),
    ("rows | sort(attribute='name') | map(attribute='id') | list", [1, 2, 3]),
    ("rows | sort(attribute='ok,id') | map(attribute='id')", [1, 2, 3]),
    ("[1, 2, 1, 'a', 'A'] | unique", [1, 2, "a"]),
    ("[[1], [1], {'a': 1}] | unique", [[1], {"a": 1}]),
    ("['a', 'A'] | unique(true)", ["a", "A"]),
    ("xs | reverse", [2, 1, 3]),
    ("'abc' | reverse", "cba"),
    ("'ab' | list", ["a", "b"]),
    ("o | list", ["b", "a"]),
    ("rows | map(attribute='tag.x')", [1, None, None]),
    ("rows | map(attribute='tag.x', default=0)", [1, 0, 0]),
    ("['a', 'b'] | map('upper')", ["A", "B"]),
    ("['a', 'b'] | map('replace', 'a', 'x')", ["x", "b"]),
    ("nested.a | map(attribute='b')", [None, 2]),
    ("[[1, 2], [3, 4]] | map(attribute='1')", [2, 4]),
    ("[[1, 2]] | map(attribute=0)", [1]),
    ("[0, 1, 2] | select", [1, 2]),
    ("[0, 1, 2] | select('odd')", [1]),
    ("[0, 1, 2] | reject('gt', 0)", [0]),
    ("rows | selectattr('ok') | map(attribute='id')", [2, 3]),
    ("rows | rejectattr('ok') | map(attribute='id')", [1]),
    ("rows | selectattr('id', 'in', [1, 3]) | length", 2),
    ("rows | selectattr('tag', 'defined') | length", 1),
    ("rows | selectattr('name', '==', 'b') | length", 1),
    ("[1, 2, 3] | batch(2)", [[1, 2], [3]]),
    ("[1, 2, 3] | batch(2, 0)", [[1, 2], [3, 0]]),
    ("[1, 2, 3] | slice(2)", [[1, 2], [3]]),
    ("[1, 2, 3] | slice(2, 0)", [[1, 2], [3, 0]]),
    ("rows | groupby('ok') | map(attribute='grouper')", [False, True]),
    ("rows | groupby('ok') | last | get('list') | length", 2),
    ("rows | groupby('zz', default='-') | first | get('grouper')", "-"),
    ('"it\'s a tEST" | title', "It's A Test"),
    ("'aB' | capitalize", "Ab"),
    ("'one two three' | truncate(9, leeway=0)", "one..."),
    ("'one two three' | truncate(9, true, leeway=0)", "one tw..."),
    ("'short' | truncate(3)", "short"),
    ("'a' | center(3)", " a "),
    ("'a' | ljust(3)", "a  "),
    ("'a' | rjust(3)", "  a"),
    ("'a\\nb\\n\\nc' | indent(2)", "a\n  b\n\n  c"),
    ("'a\\nb' | indent(1, true)", " a\n b"),
    ("'a b, c' | wordcount", 3),
    ("'a b/c&' | urlencode", "a%20b/c%26"),
    ("{'a': 'x y', 'b': 1} | urlencode", "a=x+y&b=1"),
    ("[['a', 1]] | urlencode", "a=1"),
    ("'it is' | shquote", "'it is'"),
    ("['a', 1, true] | shquote", "'a' '1' 'true'"),
    ("'<a>&\"' | escape", "&lt;a&gt;&amp;&#34;"),
    ('"\'" | e', "&#39;"),
    ("o | dictsort", [["a", 2], ["b", 1]]),
    ("o | dictsort(by='value')", [["b", 1], ["a", 2]]),
    ("o | dictsort(reverse=true) | first", ["b", 1]),
    ("'a\\nb' | lines", ["a", "b"]),
    ("zz | d(7)", 7),
    ("zz | default('x')", "x"),
]


@pytest.mark.parametrize(("text", "value"), CASES)
def test_filters(text: str, value: Value) -> None:
    result = compile_expression(text).evaluate(SCOPE)
    assert result == value
    assert type(result) is type(value)


def test_every_filter_and_test_is_tested() -> None:
    texts = " ".join([text for text, _ in CASES] + [text for text, _ in TESTS])
    assert [name for name in FILTERS if f"| {name}" not in texts] == []
    assert [
        name for name in PREDICATES if f"is {name}" not in texts and f"'{name}'" not in texts
    ] == []


TESTS: list[tuple[str, bool]] = [
    ("1 is defined", True),
    ("1 is undefined", False),
    ("none is none", True),
    ("'a' is string", True),
    ("1 is string", False),
    ("1 is number", True),
    ("1.5 is number", True),
    ("'1' is number", False),
    ("1 is integer", True),
    ("true is integer", False),
    ("1.0 is float", True),
    ("1 is float", False),
    ("true is boolean", True),
    ("0 is boolean", False),
    ("xs is sequence", True),
    ("'a' is sequence", True),
    ("1 is sequence", False),
    ("o is mapping", True),
    ("xs is mapping", False),
    ("xs is iterable", True),
    ("1 is iterable", False),
    ("true is true", True),
    ("1 is true", False),
    ("false is false", True),
    ("3 is odd", True),
    ("4 is even", True),
    ("9 is divisibleby(3)", True),
    ("9 is divisibleby 2", False),
    ("1 is eq 1", True),
    ("1 is equalto(2)", False),
    ("1 is ne 2", True),
    ("1 is lt 2", True),
    ("1 is le 1", True),
    ("2 is gt 1", True),
    ("2 is ge 3", False),
    ("1 is in xs", True),
    ("'abc' is lower", True),
    ("'Abc' is upper", False),
    ("1 is sameas 1", True),
    ("1 is sameas true", False),
    ("1 is lessthan 2", True),
    ("1 is greaterthan 2", False),
    ("[1] | select('!=', 1) == []", True),
    ("[1] | select('<', 2) == [1]", True),
    ("[1] | select('<=', 1) == [1]", True),
    ("[1] | select('>', 1) == []", True),
    ("[1] | select('>=', 1) == [1]", True),
]


@pytest.mark.parametrize(("text", "verdict"), TESTS)
def test_tests(text: str, verdict: bool) -> None:
    assert compile_expression(text).evaluate(SCOPE) is verdict
    assert compile_expression(f"not ({text})").evaluate(SCOPE) is not verdict


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("'x' | fromjson", "not JSON"),
        ("'NaN' | fromjson", "not JSON"),
        ("'1e999' | fromjson", "too large"),
        ("'%%' | b64decode", "not base64"),
        ("5 | list", "needs a list"),
        ("none | first", "needs a list"),
        ("'a' | abs", "needs a number"),
        ("'a' | round", "needs a number"),
        ("1 | round(1, 'up')", "must be 'common'"),
        ("1 | round('a')", "whole number"),
        ("[1, 'a'] | sort", "cannot be put in order"),
        ("[[1], [2]] | sort", "a list cannot be put in order"),
        ("[1, 'a'] | max", "cannot be put in order"),
        ("[1] | map", "needs the name of a filter"),
        ("[1] | map(5)", "unknown filter"),
        ("[1] | map(o.zz)", "must be a text"),
        ("[1] | map('x' ~ 'y')", "unknown filter 'xy'"),
        ("[1] | map('int', 1, 2, 3)", "takes"),
        ("'a' | split('')", "separator"),
        ("xs | batch(0)", "at least 1"),
        ("xs | slice(0)", "at least 1"),
        ("o | dictsort(by='x')", "orders by"),
        ("'abc' | truncate(1)", "at least 3"),
        ("5 | keys", "needs an object"),
        ("'x' | odd", "unknown filter"),
        ("'x' is odd", "whole number"),
        ("1 is divisibleby 0", "division by zero"),
        ("[5] | urlencode", "list of pairs"),
        ("'a' | center('x')", "whole number"),
        ("'5' | int(0, 99)", "base"),
        ("[1] | tojson(99)", "indent"),
        ("[1] | sum(start='a')", "cannot be used"),
    ],
)
def test_filters_refuse_what_they_cannot_do(text: str, part: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text).evaluate(SCOPE)
    assert part in caught.value.message


def test_filters_leave_their_input_as_it_was() -> None:
    scope = MappingScope({"xs": [3, 1, 2], "rows": [{"g": 1}, {"g": 1}]})
    for text in (
        "xs | sort",
        "xs | reverse",
        "xs | list",
        "xs | unique",
        "xs | batch(2, 0)",
        "rows | groupby('g')",
    ):
        compile_expression(text).evaluate(scope)
    assert scope.get("xs") == [3, 1, 2]
    assert scope.get("rows") == [{"g": 1}, {"g": 1}]
