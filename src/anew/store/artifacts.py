"""Values that tasks keep by name, as a store keeps them."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from anew.store.jobs import RunId


class NewArtifact(Struct, frozen=True):
    """A value to keep under a name of its owner, a run or a program; `run` is who keeps it.

    `key` names the visit of the task that does: the same one again keeps the same version, and what
    a later `attempt` gave. `data` is JSON. A `version` is given where the value was kept before, by
    a run whose history another one shares.
    """

    owner: str
    name: str
    run: RunId
    key: str
    attempt: int
    checksum: str
    data: bytes
    version: int | None = None


class StoredArtifact(Struct, frozen=True):
    """One version of a value."""

    version: int
    checksum: str
    data: bytes


class Artifacts(Protocol):
    """Values by owner, name and version. Versions of a name count from 1.

    They go with the run that kept them, but the newest version of a program's name stays until
    there is a newer one.
    """

    async def put(self, artifact: NewArtifact) -> int:
        """Keep a value as the newest version of its name; the version, which is durable then."""

    async def get(self, owner: str, name: str, version: int | None = None) -> StoredArtifact | None:
        """The newest version, unless one is asked for."""


def owner_of_run(run: RunId | str) -> str:
    return f"run:{run}"


def owner_of_program(name: str) -> str:
    return f"program:{name}"
