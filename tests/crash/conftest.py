"""What the crash tests share: warm processes, and a folder with a short name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.kit import Forkers, World, small_folder


@pytest.fixture(scope="session")
def forkers() -> Iterator[Forkers]:
    made = Forkers()
    yield made
    made.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    with small_folder() as made:
        yield made


@pytest.fixture
def world(folder: Path, forkers: Forkers) -> Iterator[World]:
    made = World(folder, forkers)
    yield made
    made.close()
