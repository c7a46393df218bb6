"""ARCHITECTURE.md is two pages, and what it and docs/internals.md name exists."""

from __future__ import annotations

import re

import pytest

from tests.pages import BLOCK, ROOT, text

SOURCES = ROOT / "src/anew"
PAGE = ROOT / "web/src"
# A file or a folder in backticks: `engine/retry.py`, `ledger.py`, `stores/contract/`.
NAMED = re.compile(r"`([\w/.-]+(?:\.(?:py|md|ts|tsx|toml)|/))`")
# Two printed pages, with the tables.
LINES_MAX = 100


def test_the_overview_is_two_pages() -> None:
    assert len(text(ROOT / "ARCHITECTURE.md").splitlines()) <= LINES_MAX


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/internals.md"])
def test_every_file_that_is_named_exists(page: str) -> None:
    named = set(NAMED.findall(BLOCK.sub("", text(ROOT / page))))
    assert len(named) > 20
    assert sorted(name for name in named if not is_there(name)) == []


def is_there(name: str) -> bool:
    """Whether it is a path of the project, or the end of one below the sources or the page's."""
    if (ROOT / name).exists():
        return True
    return any(True for folder in (SOURCES, PAGE) for _ in folder.rglob(name.rstrip("/")))
