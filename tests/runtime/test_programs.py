"""Programs out of the catalog: compiled once, found as they were registered."""

from __future__ import annotations

import asyncio

import pytest

from anew.credentials import Keychain
from anew.errors import ConfigError
from anew.runtime import programs as programs_module
from anew.runtime.programs import Document, NotRegistered, Programs, read_document
from anew.store import StoredProgram
from anew.stores.memory import MemoryDatabase
from anew.stores.memory_catalog import MemoryCatalog


class Catalog(MemoryCatalog):
    """Counts what it is asked for, by digest."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def get(self, digest: str) -> StoredProgram | None:
        self.asked.append(digest)
        return await super().get(digest)


def made() -> tuple[Programs, Catalog]:
    database, catalog = MemoryDatabase(), Catalog()
    return Programs(catalog, Keychain(database.vault), database.clock), catalog


def document(name: str, file: str = "flow.yaml", result: int = 1) -> Document:
    text = f"""\
metadata: {{name: {name}}}
workflow:
  - step: only
    tool: {{kind: noop, result: {result}}}
"""
    return read_document(text, file)


def test_a_program_in_use_is_not_compiled_again_however_many_others_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs_module, "PROGRAMS_MAX", 2)

    async def act() -> None:
        programs, catalog = made()
        used, unused = document("used"), document("unused")
        for one in (used, unused):
            await programs.register(one)
        for number in range(5):
            assert await programs.get(used.program.digest) == used
            await programs.register(document(f"other-{number}"))
        assert catalog.asked == []
        await programs.get(unused.program.digest)
        assert catalog.asked == [unused.program.digest]

    asyncio.run(act())


def test_a_program_is_found_with_the_file_it_was_registered_with() -> None:
    async def act() -> None:
        programs, _ = made()
        registered = document("flow", "/registered/flow.yaml")
        await programs.register(registered)
        await programs.keep(document("flow", "/elsewhere/flow.yaml"))
        assert (await programs.find("flow")).file == "/registered/flow.yaml"

    asyncio.run(act())


def test_the_newest_version_is_found_once_it_is_registered_elsewhere() -> None:
    async def act() -> None:
        here, catalog = made()
        there = Programs(catalog, Keychain(MemoryDatabase().vault), MemoryDatabase().clock)
        for result in range(3):
            newest = document("flow", result=result)
            await there.register(newest)
            found = await asyncio.gather(*(here.find("flow") for _ in range(3)))
            assert {one.program.digest for one in found} == {newest.program.digest}

    asyncio.run(act())


@pytest.mark.parametrize(("version", "said"), [(None, "nothing"), (9, "nothing version 9")])
def test_what_is_not_registered_is_named(version: int | None, said: str) -> None:
    async def act() -> None:
        programs, _ = made()
        with pytest.raises(NotRegistered, match=f"no program {said} is registered") as missing:
            await programs.find("nothing", version)
        assert missing.value.which == said
        assert isinstance(missing.value, ConfigError)

    asyncio.run(act())
