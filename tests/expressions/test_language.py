"""What expressions compute: literals, operators, paths, precedence."""

from __future__ import annotations

import pytest

from anew.expressions import (
    UNDEFINED,
    ExpressionError,
    MappingScope,
    Template,
    compile_expression,
    compile_template,
)
from anew.values import Value

SCOPE = MappingScope(
    {
        "a": {"b": {"c": 5, "list": [1, 2, 3]}, "items": [7], "x y": 1, "none": None},
        "rows": [{"id": 1}, {"id": 2}],
        "grid": [[1, 2], [3, 4]],
        "text": "Hello",
        "page": 4,
        "response": {"status_code": 200, "data": {"ok": True}},
        "real_body": {"status_code": 200, "data": 1, "body": 2},
        "no_http": {"data": 1},
    }
)


def evaluate(text: str) -> Value:
    return compile_expression(text).evaluate(SCOPE)


def error_of(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1_000", 1000),
        ("0x1f", 31),
        ("0b11", 3),
        ("0o17", 15),
        ("1.5", 1.5),
        ("2e3", 2000.0),
        ("true", True),
        ("True", True),
        ("false", False),
        ("none", None),
        ("None", None),
        ("'a'", "a"),
        ('"a"', "a"),
        (r"'a\n\'b\x41\u00e9\\'", "a\n'bAé\\"),
        (r"'\d'", r"\d"),
        ("'a' 'b'", "ab"),
        ("[1, 'a', [2]]", [1, "a", [2]]),
        ("[1,]", [1]),
        ("()", []),
        ("(1,)", [1]),
        ("(1, 2)", [1, 2]),
        ("1, 2", [1, 2]),
        ("(1)", 1),
        ("{}", {}),
        ("{'a': {'b': 1}, 'c': page}", {"a": {"b": 1}, "c": 4}),
        ("[]", []),
    ],
)
def test_literals(text: str, value: Value) -> None:
    result = evaluate(text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2", 3.5),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("2 ** 3 ** 2", 64),
        ("-2 ** 2", 4),
        ("- page", -4),
        ("+page", 4),
        ("--1", 1),
        ("true + true", 2),
        ("'a' + 'b'", "ab"),
        ("[1] + [2]", [1, 2]),
        ("'ab' * 2", "abab"),
        ("2 * [1]", [1, 1]),
        ("'a' ~ 1 ~ none ~ true ~ [1]", "a1nulltrue[1]"),
        ("-1 | abs", 1),
        ("not 1 == 2", True),
        ("not true or true", True),
        ("1 or 0", 1),
        ("0 or 'x'", "x"),
        ("0 and x", 0),
        ("1 and 2 and 3", 3),
        ("0 or none or 'z'", "z"),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("1 == 1.0", True),
        ("'a' in 'cat'", True),
        ("2 in [1, 2]", True),
        ("'b' in {'b': 1}", True),
        ("3 not in [1, 2]", True),
        ("'a' if page > 3 else 'b'", "a"),
        ("'a' if page > 9", UNDEFINED),
        ("1 if false else 2 if false else 3", 3),
        ("page is eq 4", True),
        ("page is not in [4]", False),
        ("'x' if page is defined else 'y'", "x"),
        ("page is divisibleby 2 and true", True),
        ("page is ge(4)", True),
    ],
)
def test_operators(text: str, value: Value) -> None:
    result = evaluate(text)
    assert result is value if value is UNDEFINED else result == value


def test_concatenation_binds_tighter_than_addition() -> None:
    assert evaluate("'1' + 2 ~ 3") == "123"
    assert "a number and a text" in error_of("1 + 2 ~ 3").message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b.c", 5),
        ("a['b'].c", 5),
        ("a['b']['c']", 5),
        ("a[text | lower | replace('hello', 'b')].c", 5),
        ("a['x y']", 1),
        ("a.items", [7]),
        ("a.items()[0][0]", "b"),
        ("a.none", None),
        ("rows[0].id", 1),
        ("rows[-1].id", 2),
        ("rows.1.id", 2),
        ("grid.1.0", 3),
        ("text[0]", "H"),
        ("text[1:3]", "el"),
        ("text[::-1]", "olleH"),
        ("rows[:1]", [{"id": 1}]),
        ("a.b.list[1:]", [2, 3]),
        ("{'k': 1}.k", 1),
        ("[4, 5][1]", 5),
        ("a.get('zz', 9)", 9),
        ("a.get('none')", None),
        ("text.upper()", "HELLO"),
        ("text.split('l')", ["He", "", "o"]),
        ("', '.join(['a', 1])", "a, 1"),
        ("text.find('l')", 2),
        ("text.count('l')", 2),
        ("[1, 2, 1].count(1)", 2),
        ("[5, 6].index(6)", 1),
        ("text.startswith('He')", True),
        ("text.startswith(['x', 'H'])", True),
        ("'42'.isdigit()", True),
        ("a.keys()", ["b", "items", "x y", "none"]),
    ],
)
def test_paths_subscripts_and_methods(text: str, value: Value) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "zz",
        "zz.a",
        "zz.a.b",
        "a.zz",
        "a.b.zz.y",
        "rows[9]",
        "rows[-9]",
        "rows.zz",
        "text.zz",
        "text.upper",
        "page.real",
        "none.x",
        "a[1]",
        "rows['0']",
        "page[0]",
        "a[:1]",
        "rows[1.5]",
        "a[[1]]",
        "no_http.body",
        "rows.append",
    ],
)
def test_what_is_not_there_is_undefined(text: str) -> None:
    assert evaluate(text) is UNDEFINED
    assert compile_expression(text).value(SCOPE) is None


def test_an_http_result_answers_body_with_its_data() -> None:
    assert evaluate("response.body.ok") is True
    assert evaluate("[response][0].body") == {"ok": True}
    assert evaluate("real_body.body") == 2


class Aliases(MappingScope):
    def alias(self, name: str, key: str, /) -> Value:
        return f"{name}~{key}"


def test_the_scope_is_asked_for_an_alias_only_where_a_bare_name_lacks_the_key() -> None:
    scope = Aliases({"step": {"data": 1, "none": None}, "rows": [1]})

    def read(text: str) -> Value:
        return compile_expression(text).evaluate(scope)

    assert read("step.data") == 1
    assert read("step.none") is None
    assert read("step.zz") == "step~zz"
    assert read("step['zz']") == "step~zz"
    assert read("rows.data") == "rows~data"
    assert read("rows.data.more") is UNDEFINED
    assert read("rows.data + '!'") == "rows~data!"
    assert read("gone.data") == "gone~data"
    assert read("rows[5]") is UNDEFINED
    assert read("[step][0].zz") is UNDEFINED


@pytest.mark.parametrize(
    ("text", "offset", "part"),
    [
        ("", 0, "expected a value"),
        ("1 +", 3, "expected a value, found the end"),
        ("a b", 2, "found 'b'"),
        ("(1", 0, "never closed"),
        ("1)", 1, "closes nothing"),
        ("[1}", 2, "closes nothing"),
        ("'abc", 0, "never closed by its quote"),
        ("a ? b", 2, "unexpected character '?'"),
        ("a.", 2, "expected a key"),
        ("a | ", 4, "the name of a filter"),
        ("a is", 4, "the name of a test"),
        ("a and and b", 6, "expected a value"),
        ("{'a' 1}", 5, "expected ':'"),
        ("007", 0, "cannot start with 0"),
        ("99999999999999999999", 0, "64 bits"),
        ("9" * 6000, 0, "64 bits"),
        ("1e999", 0, "too large"),
        (r"'\ud800'", 1, "not a character"),
        ("zip(1)", 0, "unknown function 'zip'"),
        ("a.b.foo()", 3, "unknown method 'foo'"),
        ("text | lenght", 7, "Did you mean 'length'?"),
        ("a is defned", 5, "Did you mean 'defined'?"),
        ("a | map('uper')", 8, "Did you mean 'upper'?"),
        ("a | selectattr('x', 'eqalto')", 20, "Did you mean 'equalto'?"),
        ("rand(1)", 0, "takes no arguments"),
        ("text | replace('a')", 7, "takes (old, new, count?)"),
        ("text | int(1, 2, 3)", 7, "takes"),
        ("text.upper(1)", 4, "takes no arguments"),
        ("text | int(defalt=1)", 7, "takes"),
        ("range(a=1, a=2)", 11, "given twice"),
        ("dict(a=1, 2)", 10, "come before"),
        ("(a)(1)", 1, "unknown function 'a'"),
        ("a[0](1)", 4, "only functions and methods"),
        ("f(*a)", 2, "expected a value"),
    ],
)
def test_syntax_errors_say_where_and_what(text: str, offset: int, part: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert (caught.value.offset, caught.value.source) == (offset, text)
    assert part in caught.value.message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("1 / 0", "division by zero"),
        ("1 // 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("none + 1", "null and a number"),
        ("'a' - 1", "a text and a number"),
        ("'%s' % 1", "a text and a number"),
        ("{} + {}", "an object and an object"),
        ("'a' < 1", "cannot compare"),
        ("none < 5", "cannot compare null and a number"),
        ("5 >= [1]", "cannot compare"),
        ("1 < 2 < 'x'", "cannot compare"),
        ("1 in 5", "'in' needs"),
        ("'a' in none", "'in' needs"),
        ("1 in 'a'", "look for a number in a text"),
        ("-'a'", "needs a number"),
        ("(-8) ** 0.5", "not a real number"),
        ("1e308 * 10", "not a finite number"),
        ("zz + 1", "'zz' is undefined"),
        ("1 - a.zz", "'a.zz' is undefined"),
        ("-zz", "'zz' is undefined"),
        ("zz.get('a')", "the value is undefined"),
        ("5 | length", "needs a text"),
        ("rows.lower()", "a list has no method"),
        ("{1: 2}", "a key must be a text"),
        ("rows[::0]", "step of a slice"),
        ("rows['a':]", "whole numbers"),
    ],
)
def test_evaluation_errors_say_where_and_what(text: str, part: str) -> None:
    error = error_of(text)
    assert part in error.message
    assert error.source == text
    assert 0 <= error.offset < len(text)


def test_an_error_in_the_middle_of_a_text_is_placed_there() -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_template("page {{ page }} of {{ 1 / 0 }}").evaluate(SCOPE)
    assert caught.value.offset == 24


def test_functions_take_time_and_chance_from_the_scope() -> None:
    scope = MappingScope({}, rand=lambda: 0.25, now=lambda: "2026-01-02T03:04:05Z")
    assert compile_expression("rand() * 4").evaluate(scope) == 1.0
    assert compile_expression("now()").evaluate(scope) == "2026-01-02T03:04:05Z"
    assert compile_expression("range(3)").evaluate(scope) == [0, 1, 2]
    assert compile_expression("range(5, 1, -2)").evaluate(scope) == [5, 3]
    assert compile_expression("range(5, 1)").evaluate(scope) == []
    assert compile_expression("dict(a=1, b=zz)").evaluate(scope) == {"a": 1, "b": None}


def test_a_mapping_scope_has_no_time_and_no_chance_of_its_own() -> None:
    for text in ("now()", "rand()"):
        with pytest.raises(ExpressionError, match="there is no"):
            compile_expression(text).evaluate(MappingScope())


def test_the_second_side_of_and_or_is_computed_only_when_needed() -> None:
    assert evaluate("false and 1 / 0") is False
    assert evaluate("true or 1 / 0") is True
    assert evaluate("page | default(1 / 0)") == 4


def test_a_list_with_fifty_thousand_items_can_grow_by_one() -> None:
    scope = MappingScope({"ctx": {"seen": list(range(50_000))}})
    grown = compile_expression("ctx.seen + [50000]").evaluate(scope)
    assert grown == list(range(50_001))
    assert len(scope.get("ctx")["seen"]) == 50_000


def test_a_template_prints_its_source() -> None:
    assert repr(compile_expression("a.b")) == "Template('a.b')"
    assert isinstance(compile_expression("a.b"), Template)
