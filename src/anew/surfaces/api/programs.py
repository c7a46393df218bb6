"""Register documents, list them, and look into them without running anything."""

from __future__ import annotations

from anew.runtime.json_rows import program_row
from anew.runtime.program_moves import moves_row, moves_to
from anew.store import StoredProgram
from anew.surfaces.api import shapes
from anew.surfaces.api.documents import Source
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal
from anew.views.findings import finding_row, in_file_order


async def register(asked: Asked) -> Reply:
    """Keep a document as the newest version of its name."""
    sent = await asked.json(shapes.DocumentSent)
    source = Source(sent.document, sent.file, sent.dialect, sent.files)
    return await register_source(asked, source)


async def register_source(asked: Asked, source: Source) -> Reply:
    compiled = await asked.service.compiler.document(source)
    assert compiled.document is not None
    program, engine = compiled.document.program, asked.engine
    answer = {
        "name": program.name,
        "version": await engine.register(compiled.document),
        "digest": program.digest,
        "findings": [finding_row(found) for found in in_file_order(compiled.findings)],
        "runs": moves_row(await moves_to(engine.database, engine.programs, compiled.document)),
    }
    return Reply(answer, 201)


async def list_programs(asked: Asked) -> Reply:
    asked.query(shapes.Nothing)
    found = await asked.engine.database.catalog.programs()
    return Reply({"programs": [program_row(program) for program in found]})


async def show(asked: Asked) -> Reply:
    wanted = asked.query(shapes.ProgramAsked)
    return Reply(program_shown(await stored(asked, asked.path("name"), wanted.version)))


def program_shown(program: StoredProgram) -> dict[str, object]:
    """A program with its document."""
    more = {"document": program.source, "dialect": program.dialect, "files": dict(program.files)}
    return program_row(program) | more


async def stored(asked: Asked, name: str, version: int | None = None) -> StoredProgram:
    """A registered program; Refusal when there is none of this name and version."""
    found = await asked.engine.database.catalog.find(name, version)
    if found is None:
        which = f"{name[:80]!r}" if version is None else f"{name[:80]!r} version {version}"
        raise Refusal("not-found", f"no program {which} is registered")
    return found


async def list_versions(asked: Asked) -> Reply:
    """The versions of a program, newest first."""
    wanted, name = asked.query(shapes.VersionsAsked), asked.path("name")
    newest = (await stored(asked, name)).version
    last = newest if wanted.before is None else min(newest, wanted.before - 1)
    first = max(1, last - wanted.limit + 1)
    catalog = asked.engine.database.catalog
    found = [await catalog.find(name, version) for version in range(last, first - 1, -1)]
    rows = [program_row(program) for program in found if program is not None]
    return Reply({"versions": rows, "next": first if first > 1 else None})


async def check(asked: Asked) -> Reply:
    """Every finding in a document, as `anew check --json` prints them; errors are no refusal."""
    sent = await asked.json(shapes.CheckSent)
    source = Source(sent.document, sent.file, sent.dialect, sent.files)
    compiled = await asked.service.compiler.look_into(source)
    found = in_file_order([*compiled.findings, *(compiled.strict if sent.strict else ())])
    return Reply([finding_row(finding) for finding in found])


_TAG = "programs"
_REFUSALS = ("too-large", "not-json")
# Names may have slashes in them.
_NAMED = "/api/v1/programs/{name:path}"
ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/v1/programs",
        register,
        "Keep a document under its name",
        _TAG,
        {201: shapes.Registered},
        body=shapes.DocumentSent,
        refusals=(*_REFUSALS, "bad-document"),
    ),
    Endpoint(
        "GET",
        "/api/v1/programs",
        list_programs,
        "List programs, the newest version of each",
        _TAG,
        {200: shapes.ProgramList},
    ),
    Endpoint(
        "GET",
        f"{_NAMED}/versions",
        list_versions,
        "List the versions of a program",
        _TAG,
        {200: shapes.VersionPage},
        query=shapes.VersionsAsked,
        refusals=("not-found",),
    ),
    Endpoint(
        "GET",
        _NAMED,
        show,
        "Show a program with its document",
        _TAG,
        {200: shapes.ProgramShown},
        query=shapes.ProgramAsked,
        refusals=("not-found",),
    ),
    Endpoint(
        "POST",
        "/api/v1/check",
        check,
        "Find every problem in a document",
        _TAG,
        {200: list[shapes.Finding]},
        body=shapes.CheckSent,
        refusals=_REFUSALS,
    ),
)
