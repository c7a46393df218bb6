"""Programs and credentials of a database that forgets."""

from __future__ import annotations

from msgspec.structs import replace

from anew.store import SealedCredential, StoredProgram


class MemoryCatalog:
    """Programs by digest, and the versions of each name in the order they came."""

    def __init__(self) -> None:
        self._programs: dict[str, StoredProgram] = {}
        self._versions: dict[str, list[StoredProgram]] = {}

    async def keep(self, program: StoredProgram) -> None:
        known = self._programs.setdefault(program.digest, replace(program, version=0))
        if known.path is None and program.path is not None:
            self._programs[program.digest] = replace(known, path=program.path)
            for versions in self._versions.values():
                for number, one in enumerate(versions):
                    if one.digest == program.digest:
                        versions[number] = replace(one, path=program.path)

    async def register(self, program: StoredProgram) -> StoredProgram:
        await self.keep(program)
        versions = self._versions.setdefault(program.name, [])
        if not versions or versions[-1].digest != program.digest:
            kept = self._programs[program.digest]
            number, at = len(versions) + 1, program.registered_at
            versions.append(replace(kept, version=number, registered_at=at))
        return versions[-1]

    async def get(self, digest: str) -> StoredProgram | None:
        return self._programs.get(digest)

    async def find(self, name: str, version: int | None = None) -> StoredProgram | None:
        versions = self._versions.get(name, [])
        if version is not None:
            return next((program for program in versions if program.version == version), None)
        return versions[-1] if versions else None

    async def at_path(self, path: str) -> list[StoredProgram]:
        return [program for program in await self.programs() if program.path == path]

    def registered(self) -> list[StoredProgram]:
        """Every version of every program, older ones first."""
        return [one for versions in self._versions.values() for one in versions]

    async def programs(self) -> list[StoredProgram]:
        return [self._versions[name][-1] for name in sorted(self._versions)]


class MemoryVault:
    """Sealed credentials by name."""

    def __init__(self) -> None:
        self._credentials: dict[str, SealedCredential] = {}

    async def seal(self, credential: SealedCredential) -> None:
        self._credentials[credential.name] = credential

    async def sealed(self, name: str) -> SealedCredential | None:
        return self._credentials.get(name)

    async def names(self) -> list[SealedCredential]:
        return [self._credentials[name] for name in sorted(self._credentials)]

    async def forget(self, name: str) -> bool:
        return self._credentials.pop(name, None) is not None
