"""YAML is read strictly, with places, and within its limits."""

from __future__ import annotations

import pytest

from anew.languages.document import read_yaml
from anew.languages.nodes import ListNode, MapNode, plain


def value_of(text: str | bytes) -> object:
    node, findings = read_yaml(text, "f.yaml")
    assert findings == []
    assert node is not None
    return plain(node)


def rules_of(text: str | bytes) -> list[tuple[str, int, int]]:
    _, findings = read_yaml(text, "f.yaml")
    return [(f.rule, f.place.line, f.place.column) for f in findings]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.5E-2", 0.015),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("!!float 3", 3.0),
        ("! 12", "12"),
    ],
)
def test_the_types_of_json_are_recognised(written: str, value: object) -> None:
    found = value_of(f"a: {written}")
    assert found == {"a": value}
    assert type(found["a"]) is type(value)  # type: ignore[index]


@pytest.mark.parametrize(
    "written",
    "NO no on off yes y 12:30 0o7 0x1F 007 1_000 2000-01-01 .inf .nan 1e999 1.2.3 + "
    "2000-01-01T00:00:00Z".split(),
)
def test_everything_else_stays_text(written: str) -> None:
    assert value_of(f"a: {written}") == {"a": written}


def test_a_number_too_long_to_mean_one_stays_text() -> None:
    assert value_of("a: " + "9" * 5000) == {"a": "9" * 5000}


def test_keys_that_are_numbers_or_words_are_texts() -> None:
    assert value_of("{200: a, true: b, 1.5: c, ~: d}") == {
        "200": "a",
        "true": "b",
        "1.5": "c",
        "~": "d",
    }


def test_a_byte_order_mark_is_no_part_of_the_document() -> None:
    assert value_of("\ufeffa: 1") == {"a": 1}
    assert value_of(b"\xef\xbb\xbfa: 1") == {"a": 1}


def test_nothing_at_all_is_no_root_and_no_problem() -> None:
    assert read_yaml("", "f") == (None, [])
    assert read_yaml("# only a comment\n", "f") == (None, [])


def test_list_elements_stand_at_their_dash() -> None:
    text = "x: &s\n  - - a\n    - \n  - # - no\n    b: 1\n  -\n\n    c\n  - &q\n    d: 1\n  - *q\n"
    node, _ = read_yaml(text, "f")
    assert isinstance(node, MapNode)
    items = node.entries["x"].node
    assert isinstance(items, ListNode)
    assert [(item.place.line, item.place.column) for item in items.items] == [
        (2, 3),
        (4, 3),
        (6, 3),
        (9, 3),
        (11, 3),
    ]


def test_columns_count_characters() -> None:
    node, _ = read_yaml("ä: {ö: ü}", "f")
    assert isinstance(node, MapNode)
    inner = node.entries["ä"].node
    assert isinstance(inner, MapNode)
    entry = inner.entries["ö"]
    assert (entry.place.column, entry.node.span.column) == (5, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n\tb: 1", "a tab is used for indentation; use spaces"),
        ("a: |\n\tx", "a tab is used for indentation; use spaces"),
        ("a: @x", "a value cannot start with '@'"),
        ("a: [1", "a list in brackets is not closed"),
        ("a: {b: 1", "a mapping in braces is not closed"),
        ("a: 'x", "a quoted text is not closed before the end of the file"),
        ("a: {{ b }}\n", "a template that is not in quotes is read as a mapping in braces"),
        ("a: - b", "a list cannot start on the line of its key"),
    ],
)
def test_syntax_problems_are_told_in_users_words(text: str, message: str) -> None:
    _, findings = read_yaml(text, "f")
    assert findings[0].message == message
    assert findings[0].suggestion


def test_an_open_bracket_is_reported_where_it_opens() -> None:
    assert rules_of("a: [1, 2\nb: 3\n") == [("yaml.syntax", 1, 4)]


def test_a_duplicate_key_keeps_the_first_value_and_reading_goes_on() -> None:
    node, findings = read_yaml("a: 1\nb: 2\na: {x: 1}\nb: 4\n", "f")
    assert node is not None
    assert plain(node) == {"a": 1, "b": 2}
    assert [(f.rule, f.place.line) for f in findings] == [
        ("yaml.duplicate-key", 3),
        ("yaml.duplicate-key", 4),
    ]


def bomb(levels: int) -> str:
    rows = [
        f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 9)}]" for level in range(1, levels)
    ]
    return "\n".join(["l0: &l0 [x, x, x]", *rows])


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[" * 20_000, "yaml.depth"),
        ("- " * 20_000, "yaml.depth"),
        ("{a: " * 20_000, "yaml.depth"),
        (bomb(30), "yaml.aliases"),
        ("a: &a [" + "x, " * 20_000 + "]\nb: [" + "*a, " * 6 + "]", "yaml.aliases"),
        ("a: &a " + "[" * 60 + "]" * 60 + "\nb: " + "[" * 60 + "*a" + "]" * 60, "yaml.depth"),
        ("x" * (2 << 20), "yaml.size"),
        ("a: \x00", "yaml.encoding"),
        ("a: \ud800", "yaml.encoding"),
        ("a: \ufeff", "yaml.encoding"),
        (b"\xff\xfea\x00", "yaml.encoding"),
        (b"\x00\x01\x02", "yaml.encoding"),
        ("a: &x [*x]", "yaml.alias"),
        ("? [a]\n: b", "yaml.key"),
        ("? &k {a: 1}\n: b\nc: 1", "yaml.key"),
        ("a: !!set {x}", "yaml.tag"),
        ("a: !!int x", "yaml.tag"),
        ("!!python/object/apply:os.system [ls]", "yaml.tag"),
    ],
)
def test_hostile_documents_are_refused(text: str | bytes, rule: str) -> None:
    assert rules_of(text)[0][0] == rule


def test_a_thousand_aliases_are_allowed() -> None:
    found = value_of("x: &x 1\ny: [" + "*x, " * 1000 + "]\n")
    assert found == {"x": 1, "y": [1] * 1000}


def test_aliases_inside_aliases_count_each_time_they_are_used() -> None:
    rows = [f"l{level}: &l{level} [*l{level - 1}, *l{level - 1}]" for level in range(1, 11)]
    found = rules_of("\n".join(["l0: &l0 x", *rows]))
    assert [rule for rule, _, _ in found] == ["yaml.aliases"]
