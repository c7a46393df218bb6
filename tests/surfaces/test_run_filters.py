"""A filter of run lists is read in one place, for queries and for options."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import asdict

from anew.stores.memory import MemoryDatabase
from anew.surfaces.api.run_list import RunSearch
from anew.surfaces.cli.run_filters import add_filter_options
from anew.surfaces.run_filters import run_filter_of

# Which only the API has: `parent` it reads itself, as an id.
ONLY_IN_QUERIES = {"digest", "parent"}


class Noted(Mapping[str, Any]):
    """Words, and which of them were read."""

    def __init__(self, words: dict[str, Any]) -> None:
        self.words, self.names = words, set[str]()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self.words[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)


def test_every_filter_of_a_query_is_read() -> None:
    words = Noted(asdict(RunSearch()))
    asyncio.run(run_filter_of(words, MemoryDatabase(), label_option="label="))
    assert words.names == set(RunSearch.__struct_fields__) - {"parent"}


def test_options_and_queries_have_the_same_filters() -> None:
    parser = ArgumentParser(add_help=False)
    add_filter_options(parser)
    assert set(vars(parser.parse_args([]))) == set(RunSearch.__struct_fields__) - ONLY_IN_QUERIES
