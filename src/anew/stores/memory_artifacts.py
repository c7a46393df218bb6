"""Values that tasks keep by name, of a database that forgets."""

from __future__ import annotations

from collections.abc import Callable

from anew.store import NewArtifact, RunId, StoredArtifact
from anew.store.artifacts import owner_of_run


class MemoryArtifacts:
    """`exists` tells whether a run is still there."""

    def __init__(self, exists: Callable[[RunId], bool]) -> None:
        self._exists = exists
        self._kept: dict[tuple[str, str], dict[int, NewArtifact]] = {}

    async def put(self, artifact: NewArtifact) -> int:
        versions = self._kept.setdefault((artifact.owner, artifact.name), {})
        for version, known in versions.items():
            if known.key == artifact.key:
                if artifact.attempt >= known.attempt:
                    versions[version] = artifact
                return version
        added = artifact.version or max(versions, default=0) + 1
        versions[added] = artifact
        if artifact.owner != owner_of_run(artifact.run):
            self._drop_left(versions, added)
        return added

    def _drop_left(self, versions: dict[int, NewArtifact], added: int) -> None:
        """Older versions of a program's name whose run is gone."""
        for version, known in list(versions.items()):
            if version < added and not self._exists(known.run):
                del versions[version]

    async def get(self, owner: str, name: str, version: int | None = None) -> StoredArtifact | None:
        versions = self._kept.get((owner, name), {})
        wanted = max(versions, default=0) if version is None else version
        found = versions.get(wanted)
        return None if found is None else StoredArtifact(wanted, found.checksum, found.data)

    def forget(self, run: RunId) -> None:
        """A run goes, and with it what it kept; the newest version of a program's name stays."""
        for (owner, _), versions in self._kept.items():
            for version, known in list(versions.items()):
                is_newest = version == max(versions)
                if known.run == run and (owner == owner_of_run(run) or not is_newest):
                    del versions[version]
