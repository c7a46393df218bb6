"""Values of Python programs as JSON and back, with the types of the standard library, msgspec and pydantic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec
import pydantic
import pytest

from anew.errors import ConfigError
from anew.tools.python_values import as_json, as_type

AT = datetime(2030, 1, 31, tzinfo=UTC)


class Colour(Enum):
    RED = "red"


@dataclass
class Plain:
    a: int
    at: datetime


class Packed(msgspec.Struct):
    a: int
    at: datetime


class Modelled(pydantic.BaseModel):
    a: int
    at: datetime


@pytest.mark.parametrize("kind", [Plain, Packed, Modelled])
def test_a_type_becomes_json_and_is_made_of_it_again(kind: Any) -> None:
    one = kind(a=1, at=AT)
    written = as_json([one, {"in": one}], "it")
    assert written == [{"a": 1, "at": "2030-01-31T00:00:00Z"}, {"in": written[0]}]
    assert as_type(written[0], kind, "it") == one
    assert as_type(written[:1], list[kind], "it") == [one]


def test_other_values_become_json() -> None:
    assert as_json({"d": Decimal("1.50"), "c": Colour.RED, 7: (1, 2)}, "it") == {
        "d": "1.50",
        "c": "red",
        "7": [1, 2],
    }


@pytest.mark.parametrize("kind", [Plain, Packed, Modelled, list[Modelled], Colour, int])
def test_what_does_not_fit_is_said_with_its_name(kind: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"the result does not fit .*(Plain|Packed|Modelled|Colour|int)"
    ):
        as_type([{"a": "x"}] if "list" in str(kind) else {"a": "x"}, kind, "the result")


def test_what_is_not_json_is_said() -> None:
    with pytest.raises(
        ConfigError,
        match="the input cannot be written as JSON: it holds a value of the type object",
    ):
        as_json({"a": object()}, "the input")
    round_and_round: list[Any] = []
    round_and_round.append(round_and_round)
    with pytest.raises(ConfigError, match="the input cannot be written as JSON"):
        as_json(round_and_round, "the input")
