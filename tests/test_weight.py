"""Which values may enter a log."""

import pytest

from anew.weight import VALUE_CHARS_MAX, VALUE_DEPTH_MAX, problem_of


def doubled(times):
    value = [0]
    for _ in range(times):
        value = [value, value]
    return value


def nested(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**64 - 1,
        -(2**63),
        1.5,
        "",
        "ä",
        [],
        {},
        {"a": [1, {"b": None}]},
        list(range(3_000_000)),
        nested(VALUE_DEPTH_MAX),
        doubled(10),
    ],
)
def test_json_may_enter(value):
    assert problem_of(value) is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("inf"), "not finite"),
        ({"x": [float("nan")]}, "not finite"),
        (2**64, "over 64 bits"),
        ([-(2**63) - 1], "over 64 bits"),
        ("\ud800", "surrogate"),
        ({"\ud800": 1}, "surrogate"),
        ({1: 2}, "not text"),
        ({1, 2}, "JSON does not know"),
        ("x" * (VALUE_CHARS_MAX + 1), "larger than"),
        (["x" * 1_000_000] * 100, "larger than"),
        (nested(VALUE_DEPTH_MAX + 1), "nested deeper"),
        (nested(100_000), "nested deeper"),
        (doubled(60), "more than"),
    ],
)
def test_anything_else_is_refused_and_says_why(value, why):
    assert why in problem_of(value)
