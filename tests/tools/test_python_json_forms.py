"""Which JSON a result becomes."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest

from anew.tools.python.json_forms import NotPlain, plain


@dataclass
class Point:
    x: int
    y: Any


class Pair(NamedTuple):
    a: int
    b: int


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Struct(msgspec.Struct):
    n: int


class NotATime(datetime):
    """As pandas' NaT, which differs from itself."""

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = datetime.__hash__


class Array:
    """As numpy's, which is not a dependency."""

    dtype = "int64"

    def tolist(self) -> list[int]:
        return [1, 2]


class Frame:
    """As pandas'."""

    def iterrows(self) -> None: ...

    def to_dict(self, orient: str) -> list[dict[str, float]]:
        assert orient == "records"
        return [{"a": 1.5}]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"a": [1, 2.5, "é", True, None]}, {"a": [1, 2.5, "é", True, None]}),
        ((1, (2,)), [1, [2]]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (deque([1]), [1]),
        (range(3), [0, 1, 2]),
        ({"a": 1}.keys(), ["a"]),
        ({"a": 1}.items(), [["a", 1]]),
        (OrderedDict(b=1), {"b": 1}),
        (
            {1: "a", None: "b", True and 2.5: "c", False: "d"},
            {"1": "a", "null": "b", "2.5": "c", "false": "d"},
        ),
        ({Colour.RED: 1, date(2026, 1, 2): 2}, {"red": 1, "2026-01-02": 2}),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (datetime(2026, 1, 2, 3, 4, 5, 678, UTC), "2026-01-02T03:04:05.000678Z"),
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:00:00Z"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (timedelta(minutes=1, milliseconds=5), 60.005),
        (Decimal("1.50"), 1.5),
        (Decimal(7), 7),
        (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (Fraction(1, 3), "1/3"),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (b"\xff\x00", "/wA="),
        (Path("a/b"), "a/b"),
        (Point(1, Point(2, (3,))), {"x": 1, "y": {"x": 2, "y": [3]}}),
        (Pair(1, 2), [1, 2]),
        ([Colour.RED, Level.HIGH, Word.YES], ["red", 3, "yes"]),
        (Struct(4), {"n": 4}),
        (Array(), [1, 2]),
        (Frame(), [{"a": 1.5}]),
    ],
)
def test_a_value_has_the_form_one_expects(value: Any, form: Any) -> None:
    made = plain(value)
    assert made == form
    assert type(made) is type(form)
    assert msgspec.json.decode(msgspec.json.encode(made)) == form


def looped() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": [1, object()]}, "the result.a[1] is of the type object, which has no JSON form"),
        (Point, "the result is of the type type"),
        (lambda: 1, "of the type function"),
        ((n for n in ()), "of the type generator"),
        ({"a": math.inf}, "the result.a is infinite"),
        (math.nan, "the result is NaN, which JSON does not have: return None in its place"),
        ({"rows": [1, {"x": math.nan}]}, "the result.rows[1].x is NaN"),
        ({"a": [Decimal("NaN")]}, "the result.a[0] is NaN"),
        (Decimal("-Infinity"), "the result is infinite"),
        (NotATime(2026, 1, 2), "the result is NaT"),
        ({"a": {math.nan: 1}}, "the result.a has a key that is NaN"),
        ({"a": "\ud800"}, "the result.a has half of a surrogate pair"),
        ({(1, 2): 1}, "the result has a key of type tuple"),
        ({1: "a", "1": "b"}, "two keys that are '1'"),
        (looped(), "or contains itself"),
    ],
)
def test_a_value_without_a_form_is_named_with_its_place(value: Any, words: str) -> None:
    with pytest.raises(NotPlain) as caught:
        plain(value)
    assert words in str(caught.value)
