"""How missing values and names of several words behave, operator by operator."""

from __future__ import annotations

import pytest

from anew.expressions import (
    UNDEFINED,
    ExpressionError,
    MappingScope,
    Undefined,
    WordAliases,
    compile_condition,
    compile_expression,
    compile_template,
)
from anew.values import Value

SCOPE = MappingScope(
    {
        "five": 5,
        "xs": [1, None],
        "o": {},
        "none": None,
        "event": {"name": WordAliases("step.done", "call.done", "step.exit"), "step": "a"},
    }
)


def evaluate(text: str) -> Value:
    return compile_expression(text).evaluate(SCOPE)


OTHERS = ["5", "five", "'a'", "none", "xs", "o", "true", "zz", "o.zz", "''", "0"]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("missing", ["gone", "o.gone", "gone.a.b", "five.real"])
def test_comparing_with_undefined_is_false_and_differing_true(missing: str, other: str) -> None:
    for sign in ("==", "<", "<=", ">", ">="):
        assert evaluate(f"{missing} {sign} {other}") is False
        assert evaluate(f"{other} {sign} {missing}") is False
    assert evaluate(f"{missing} != {other}") is True
    assert evaluate(f"{other} != {missing}") is True


@pytest.mark.parametrize("container", ["[1, 2]", "xs", "o", "'abc'", "gone", "[gone]"])
def test_undefined_is_in_nothing(container: str) -> None:
    assert evaluate(f"gone in {container}") is False
    assert evaluate(f"gone not in {container}") is True


def test_nothing_is_in_undefined() -> None:
    assert evaluate("1 in gone") is False
    assert evaluate("1 not in gone") is True
    assert evaluate("1 < gone < 3") is False


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**"])
def test_arithmetic_on_undefined_raises(sign: str) -> None:
    for text in (f"gone {sign} 1", f"1 {sign} gone", f"gone {sign} 'a'", f"[] {sign} gone"):
        with pytest.raises(ExpressionError, match="'gone' is undefined"):
            evaluate(text)


@pytest.mark.parametrize(
    "text", ["-gone", "+gone", "gone()", "gone.get('a')", "gone.x()", "gone | abs"]
)
def test_signs_and_calls_on_undefined_raise(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("gone ~ 'a' ~ gone", "a"),
        ("not gone", True),
        ("gone or 1", 1),
        ("[gone]", [None]),
        ("{'a': gone}", {"a": None}),
        ("gone | default(1)", 1),
        ("gone | d", ""),
        ("none | default(1)", None),
        ("none | default(1, true)", 1),
        ("0 | d(1, boolean=true)", 1),
        ("gone | default(alsogone) | default(2)", 2),
        ("gone | length", 0),
        ("gone | int", 0),
        ("gone | int(7)", 7),
        ("gone | float", 0.0),
        ("gone | lower", ""),
        ("gone | trim", ""),
        ("gone | list", []),
        ("gone | join(',')", ""),
        ("gone | sum", 0),
        ("gone | tojson", "null"),
        ("gone | string", ""),
        ("gone | sort", []),
        ("gone | items", []),
        ("gone | map('int')", []),
        ("gone | select", []),
        ("gone | replace('a', 'b')", ""),
        ("gone | bool", False),
        ("gone is defined", False),
        ("gone is undefined", True),
        ("gone is none", False),
        ("none is defined", True),
        ("gone is string", False),
        ("gone is not mapping", True),
        ("[1, gone] | map('default', 2) | list", [1, None]),
    ],
)
def test_undefined_is_lenient_elsewhere(text: str, value: Value) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "gone | first",
        "gone | last",
        "[] | first",
        "gone | min",
        "gone | fromjson",
        "gone and 1",
        "gone | get('a')",
    ],
)
def test_undefined_stays_undefined(text: str) -> None:
    assert evaluate(text) is UNDEFINED


def test_a_status_that_is_missing_is_not_a_server_error() -> None:
    assert compile_condition("status_code >= 500").holds(SCOPE) is False
    assert compile_condition("status_code != 404").holds(SCOPE) is True


def test_undefined_is_one_falsy_value() -> None:
    assert not UNDEFINED
    assert isinstance(UNDEFINED, Undefined)
    assert repr(UNDEFINED) == "UNDEFINED"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("event.name == 'step.done'", True),
        ("event.name == 'call.done'", True),
        ("'step.exit' == event.name", True),
        ("event.name == 'loop.done'", False),
        ("event.name != 'call.done'", False),
        ("event.name != 'loop.done'", True),
        ("event.name in ['x', 'call.done']", True),
        ("event.name not in ['x', 'call.done']", False),
        ("event.name in ['x']", False),
        ("event.name not in ['x']", True),
        ("event.name in [event.step, 'step.exit']", True),
        ("event.name in 'was call.done'", True),
        ("event.name in {'call.done': 1}", True),
        ("'call' in event.name", True),
        ("'loop' in event.name", False),
        ("event.name is eq 'call.done'", True),
        ("event.name is in ['call.done']", True),
        ("event.name == event.name", True),
        ("event['name'] == 'call.done'", True),
        ("event.name | default('') == 'call.done'", True),
        ("event.name | upper", "STEP.DONE"),
        ("event.name | string == 'call.done'", False),
        ("event.name ~ ''", "step.done"),
        ("event.name + '!'", "step.done!"),
        ("event.name < 'step.e'", True),
        ("event.name | length", 9),
        ("event.name[0]", "s"),
        ("event.name.split('.')", ["step", "done"]),
        ("event.name is string", True),
    ],
)
def test_a_name_of_several_words_answers_to_each(text: str, value: Value) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "{{ event.name }}",
        "{{ [event.name][0] }}",
        "{{ event.name or 1 }}",
        "{{ {'a': event.name}.a }}",
        "{{ event['name'] | default(1) }}",
        "{% set x = event.name %}{{ x }}",
        "{{ event.name | safe }}",
    ],
)
def test_what_leaves_an_evaluation_is_the_first_word_as_plain_text(text: str) -> None:
    result = compile_template(text).evaluate(SCOPE)
    assert result == "step.done"
    assert type(result) is str


def test_an_object_that_leaves_an_evaluation_holds_plain_text() -> None:
    for text in ("{{ event }}", "{{ [event][0] }}"):
        name = compile_template(text).evaluate(SCOPE)["name"]
        assert type(name) is str
    nested = compile_template("{{ {'e': event, 'l': [event]} }}").evaluate(SCOPE)
    assert type(nested["e"]["name"]) is str
    assert type(nested["l"][0]["name"]) is str


def test_words_inside_loops_match_too() -> None:
    text = (
        "{% for w in ['call.done', 'x'] %}{{ event.name == w }}{{ event.name in [w] }} {% endfor %}"
    )
    assert compile_template(text).evaluate(SCOPE) == "truetrue falsefalse "


def test_words_are_texts() -> None:
    words = WordAliases("a", "b")
    assert words.words == ("a", "b")
    assert hash(words) == hash("a")
    assert words == WordAliases("c", "b")
    assert words != WordAliases("c", "d")
