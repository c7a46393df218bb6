"""A wrong word in a request is answered with the right ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import decoded, read_query

Colour = Literal["blue", "red"]


class Inner(Struct):
    colour: Colour | None = None


class Query(Struct):
    colour: list[Colour] = []
    few: Annotated[list[Colour], Meta(max_length=2, description="a few")] = []
    one: Colour = "red"
    inner: Inner | None = None
    number: int = 0


def refused(items: Sequence[tuple[str, str]]) -> str:
    with pytest.raises(ApiError) as found:
        read_query(items, Query)
    return found.value.detail


@pytest.mark.parametrize("name", ["colour", "few", "one"])
def test_a_query_with_a_wrong_word_is_told_the_words_there_are(name: str) -> None:
    assert refused([(name, "green")]).endswith("; choose from blue, red")
    assert refused([(name, "` - at `$.number`")]).endswith("; choose from blue, red")


def test_a_body_with_a_wrong_word_is_told_the_words_there_are() -> None:
    with pytest.raises(ApiError, match=r"choose from blue, red$"):
        decoded(b'{"inner": {"colour": "green"}}', Query)


def test_other_mistakes_are_told_as_they_are() -> None:
    assert "choose" not in refused([("number", "x")])
