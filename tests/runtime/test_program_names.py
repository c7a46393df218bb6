"""Programs by name, and by the path that NoETL's documents have."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from anew.errors import ConfigError
from anew.runtime.program_names import PathOfSeveral, PathTaken, check_path, find_program
from anew.stores.contract.catalog import program
from anew.stores.memory_catalog import MemoryCatalog
from tests.runtime.test_control import in_a_world

CHILD = """
metadata: {{name: {name}, path: team/child}}
workflow:
  - step: only
    tool: {{kind: noop, result: {result}}}
"""
PARENT = """
metadata: {name: parent}
workflow:
  - step: call
    tool: {kind: playbook, path: team/child, version: "{{ workload.version }}"}
"""


def test_a_name_wins_over_a_path() -> None:
    async def act() -> None:
        catalog = MemoryCatalog()
        await catalog.register(replace(program("d1"), path="flow/path"))
        assert await find_program(catalog, "flow/path") == await catalog.find("flow")
        named = await catalog.register(program("e1", "flow/path"))
        assert await find_program(catalog, "flow/path") == named
        assert await find_program(catalog, "nothing") is None

    asyncio.run(act())


def test_a_version_counts_under_the_name_a_path_leads_to() -> None:
    async def act() -> None:
        catalog = MemoryCatalog()
        for digest in ("d1", "d2"):
            await catalog.register(replace(program(digest), path="flow/path"))
        first = await find_program(catalog, "flow/path", 1)
        assert first is not None
        assert (first.digest, first.version) == ("d1", 1)
        assert await find_program(catalog, "flow/path", 3) is None

    asyncio.run(act())


def test_one_path_of_two_programs_names_both() -> None:
    async def act() -> None:
        catalog = MemoryCatalog()
        for name in ("b", "a"):
            await catalog.register(replace(program(name, name), path="p"))
        with pytest.raises(PathOfSeveral, match=r"'p' is that of several programs: 'a' and 'b'"):
            await find_program(catalog, "p")
        await check_path(catalog, "q", "c")
        await check_path(catalog, None, "c")
        with pytest.raises(PathTaken, match=r"'c' was not registered: its path 'p' .* 'a'"):
            await check_path(catalog, "p", "c")

    asyncio.run(act())


def test_a_child_is_found_by_its_path_and_version(tmp_path) -> None:
    async def work(world) -> None:
        programs = world.engine.programs
        for result in (1, 2):
            await programs.register(programs.read(CHILD.format(name="c", result=result), "c.yaml"))
        for version, result in (("latest", 2), (1, 1)):
            run = await world.start(PARENT, {"version": version})
            assert (await world.ended(run)).last_result == result
        with pytest.raises(ConfigError, match="'other' was not registered"):
            await programs.register(programs.read(CHILD.format(name="other", result=3), "o.yaml"))

    in_a_world(work, tmp_path)


def test_a_path_of_two_programs_is_an_outcome_of_kind_reference(tmp_path) -> None:
    async def work(world) -> None:
        catalog = world.database.catalog
        for name in ("a", "b"):
            await catalog.register(replace(program(name, name), path="team/child"))
        run = await world.start(PARENT, {"version": None})
        await world.ended(run)
        row = await world.database.archive.run(run)
        error = row.error
        assert error["kind"] == "reference"
        assert "'a' and 'b'" in error["message"]

    in_a_world(work, tmp_path)
