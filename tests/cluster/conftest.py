"""What the cluster tests share: warm processes, a database of their own, and a cluster on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.spawning import Spawner
from tests.crash.kit import small_folder
from tests.postgres_server import Database, a_database  # noqa: F401


@pytest.fixture(scope="session")
def spawner() -> Iterator[Spawner]:
    made = Spawner()
    yield made
    made.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    with small_folder() as made:
        yield made


@pytest.fixture
def cluster(folder: Path, spawner: Spawner, database: Database) -> Iterator[Cluster]:
    made = Cluster(folder, spawner, dsn=database.dsn)
    yield made
    made.close()
