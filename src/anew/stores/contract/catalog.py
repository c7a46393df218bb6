"""Programs by digest, name and version; credentials by name."""

from __future__ import annotations

from msgspec.structs import replace

from anew.store import SealedCredential, StoredProgram
from anew.stores.contract.making import NOW, Factory, opened


def program(digest: str, name: str = "flow") -> StoredProgram:
    return StoredProgram(digest, name, 0, f"source of {digest} \0 ä", "flow.yaml", NOW)


async def case_versions_count_under_each_name(factory: Factory) -> None:
    async with opened(factory) as db:
        new = [program("d1"), program("d2"), program("e1", "other"), program("d3")]
        kept = [await db.catalog.register(one) for one in new]
        assert [one.version for one in kept] == [1, 2, 1, 3]
        assert kept[1] == replace(program("d2"), version=2)
        assert await db.catalog.get("d2") == program("d2")
        assert await db.catalog.find("flow") == kept[3]
        assert await db.catalog.find("flow", 1) == kept[0]
        assert await db.catalog.programs() == [kept[3], kept[2]]


async def case_the_same_document_again_changes_nothing(factory: Factory) -> None:
    async with opened(factory) as db:
        known = await db.catalog.register(program("d1"))
        again = replace(program("d1"), registered_at=NOW + 1, file="moved.yaml", version=9)
        assert await db.catalog.register(again) == known
        await db.catalog.keep(again)
        assert await db.catalog.get("d1") == program("d1")
        assert (await db.catalog.register(program("d2"))).version == 2


async def case_an_older_document_can_be_registered_again(factory: Factory) -> None:
    async with opened(factory) as db:
        for digest in ("d1", "d2", "d1"):
            newest = await db.catalog.register(program(digest))
        assert (newest.digest, newest.version) == ("d1", 3)
        assert await db.catalog.find("flow") == newest


async def case_a_document_that_was_only_run_has_no_version(factory: Factory) -> None:
    async with opened(factory) as db:
        known = await db.catalog.register(program("d1"))
        await db.catalog.keep(program("d2"))
        await db.catalog.keep(program("e1", "other"))
        assert await db.catalog.get("d2") == program("d2")
        assert await db.catalog.find("flow") == known
        assert await db.catalog.find("other") is None
        assert await db.catalog.programs() == [known]


async def case_a_program_keeps_what_it_was_compiled_with(factory: Factory) -> None:
    async with opened(factory) as db:
        files = {"styles/m.css": "* { model: m }", "prüfen.md": "\0 ä \U0001f600\r\n"}
        tools = {"charge": "shop.tools:charge", "ä": "ä:b"}
        graph = replace(program("d1"), dialect="spec", files=files, tools=tools)
        known = await db.catalog.register(graph)
        assert known == replace(graph, version=1)
        assert await db.catalog.get("d1") == graph
        assert await db.catalog.find("flow") == known
        assert await db.catalog.programs() == [known]
        await db.catalog.keep(program("d2"))
        assert await db.catalog.get("d2") == program("d2")


async def case_a_program_keeps_the_path_of_its_document(factory: Factory) -> None:
    async with opened(factory) as db:
        known = await db.catalog.register(replace(program("d1"), path="team/ä \0 flow"))
        assert known == replace(program("d1"), path="team/ä \0 flow", version=1)
        assert await db.catalog.get("d1") == replace(known, version=0)
        assert await db.catalog.find("flow") == known
        assert await db.catalog.programs() == [known]
        await db.catalog.keep(replace(program("d1"), path="another"))
        assert await db.catalog.find("flow") == known


async def case_a_path_is_added_to_a_document_without_one(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.catalog.register(program("d1"))
        with_path = await db.catalog.register(replace(program("d1"), path="team/flow"))
        assert (with_path.version, with_path.path) == (1, "team/flow")
        await db.catalog.keep(program("d1"))
        assert await db.catalog.programs() == [with_path]


async def case_programs_are_found_by_the_path_of_their_newest_version(factory: Factory) -> None:
    async with opened(factory) as db:
        register = db.catalog.register
        await register(replace(program("d1"), path="team/ä \0"))
        flow = await register(replace(program("d2"), path="team/ä \0"))
        await register(replace(program("e1", "moved"), path="team/ä \0"))
        await register(replace(program("e2", "moved"), path="elsewhere"))
        await register(program("f1", "team/ä \0"))
        await db.catalog.keep(replace(program("g1", "only run"), path="team/ä \0"))
        assert await db.catalog.at_path("team/ä \0") == [flow]
        other = await register(replace(program("h1", "another"), path="team/ä \0"))
        assert await db.catalog.at_path("team/ä \0") == [other, flow]
        assert await db.catalog.at_path("team") == []


async def case_an_unknown_program_is_none(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.catalog.register(program("d1"))
        assert await db.catalog.get("d") is None
        assert await db.catalog.find("flo") is None
        assert await db.catalog.find("flow", 2) is None
        assert await db.catalog.find("flow", 0) is None


async def case_programs_are_listed_by_name(factory: Factory) -> None:
    async with opened(factory) as db:
        assert await db.catalog.programs() == []
        for name in ("b", "a", "c"):
            await db.catalog.register(program(name, name))
        assert [one.name for one in await db.catalog.programs()] == ["a", "b", "c"]


async def case_credentials_are_kept_as_they_were_sealed(factory: Factory) -> None:
    async with opened(factory) as db:
        old = SealedCredential("pg", "postgres", b"\x00\xff\x80sealed", NOW)
        new = SealedCredential("pg", "bearer", b"", NOW + 1)
        other = SealedCredential("api ä", "bearer", b"x", NOW)
        assert await db.vault.sealed("pg") is None
        await db.vault.seal(old)
        await db.vault.seal(other)
        assert await db.vault.sealed("pg") == old
        await db.vault.seal(new)
        assert await db.vault.sealed("pg") == new
        assert await db.vault.names() == [other, new]
        assert await db.vault.forget("pg") is True
        assert await db.vault.forget("pg") is False
        assert await db.vault.sealed("pg") is None
        assert await db.vault.names() == [other]


async def case_the_newest_version_of_a_document_is_told(factory: Factory) -> None:
    async with opened(factory) as db:
        for digest in ("d1", "d2", "d1"):
            await db.catalog.register(program(digest))
        await db.catalog.keep(program("d3"))
        assert await db.statistics.versions(["d1", "d2", "d3", "none"]) == {"d1": 3, "d2": 2}
        assert await db.statistics.versions([]) == {}
