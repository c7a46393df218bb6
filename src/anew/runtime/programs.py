"""Programs by digest, compiled once; their documents lie in the catalog, so a run needs no file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct, field
from msgspec.structs import replace

from anew.clock import Clock
from anew.engine.secrets import MissingSecret, Secrets
from anew.errors import ConfigError, ProgramError
from anew.languages import load_text
from anew.program.findings import errors_in
from anew.program.kinds import KINDS, MODULE_KINDS, find_kind
from anew.program.program import Program
from anew.runtime.program_names import check_path, find_program
from anew.runtime.single_flight import SingleFlight
from anew.store import Catalog, StoredProgram

if TYPE_CHECKING:
    from anew.credentials import Keychain
    from anew.languages.dot.extensions import Extensions

T = TypeVar("T")

# A compiled program of a hundred steps is about a megabyte.
PROGRAMS_MAX = 200
# Smaller documents are compiled in a few milliseconds, not worth a thread.
COMPILED_AT_ONCE_BYTES = 2 * 1024


class NotRegistered(ConfigError):
    """The catalog has no program of this name, or none of this version."""

    def __init__(self, which: str) -> None:
        super().__init__(
            f"no program {which} is registered. `anew programs` lists those that are; "
            "`anew register FILE` adds one."
        )
        self.which = which


class Document(Struct, frozen=True):
    """A compiled document, and all it was compiled with; see `Loaded`.

    The relative files of its tasks are found in the folder of `file`.
    """

    program: Program
    source: str
    file: str
    dialect: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return _folder(self.file)


# Every start of a run asks, mostly for the same few.
@lru_cache(maxsize=PROGRAMS_MAX)
def _folder(file: str) -> Path:
    return Path(file).parent


def read_document(
    source: str | bytes,
    file: str,
    *,
    dialect: str | None = None,
    files: Mapping[str, str] | None = None,
    extensions: Extensions | None = None,
) -> Document:
    """Compile a document; ProgramError with its findings when it has errors.

    For the other arguments see `languages.load_text`.
    """
    loaded = load_text(source, file, dialect=dialect, files=files, extensions=extensions)
    errors = errors_in(loaded.findings)
    if errors or loaded.program is None:
        raise ProgramError(errors)
    text = source if isinstance(source, str) else source.decode()
    return Document(loaded.program, text, os.path.abspath(file), loaded.dialect, loaded.files)


def compiled_again(stored: StoredProgram, extensions: Extensions | None = None) -> Document:
    """A document of the catalog, compiled as it was when it was kept, wherever its files are now.

    ConfigError when that takes extensions that are not given. What was kept was accepted: their
    rules are not asked once more.
    """
    ways = [None] if extensions is None else [replace(extensions, rules=()), _plain(extensions)]
    problem: ProgramError | None = None
    for way in ways:
        try:
            document = read_document(
                stored.source,
                stored.file,
                dialect=stored.dialect,
                files=stored.files,
                extensions=way,
            )
        except ProgramError as error:
            problem = problem or error
            continue
        if document.program.digest == stored.digest:
            return document
    raise _missing_tools(stored, extensions) or problem or _missing_extensions(stored)


def _missing_extensions(stored: StoredProgram) -> ConfigError:
    return ConfigError(
        f"program {stored.name!r} ({stored.digest[:12]}) was compiled with extensions that this "
        "engine does not have. Open the engine in code, with the extensions its runs started with."
    )


def _missing_tools(stored: StoredProgram, extensions: Extensions | None) -> ConfigError | None:
    """Why it cannot be compiled here, if that is for want of a module of tools."""
    given = extensions.kinds if extensions is not None else ()
    missing = {
        kind: place
        for kind, place in stored.tools.items()
        if kind not in given and find_kind(kind) is None
    }
    if not missing:
        return None
    kinds = ", ".join(map(repr, sorted(missing)))
    modules = sorted({place.partition(":")[0] for place in missing.values()})
    options = " ".join(f"--tools {module}" for module in modules)
    return ConfigError(
        f"program {stored.name!r} calls Python code that this process does not have: "
        f"{kinds} of the module {', '.join(map(repr, modules))}. "
        f"Start it with `{options}`, where the module can be imported."
    )


def _plain(extensions: Extensions) -> Extensions:
    """Without what makes another program of a document: for those that others started."""
    return replace(extensions, types=(), shapes={}, transforms=(), rules=())


async def compiled_beside(compile_it: Callable[[], T], size: int) -> T:
    """Compile a document of this size, in a thread when others would have to wait for it.

    One after the other: they share the interpreter with whoever answers requests.
    """
    if size <= COMPILED_AT_ONCE_BYTES:
        return compile_it()
    async with _COMPILING.of_this_loop():
        return await asyncio.to_thread(compile_it)


class _Compiling:
    """A lock for each event loop: a process may have several, one after the other."""

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    def of_this_loop(self) -> asyncio.Lock:
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


_COMPILING = _Compiling()


class Programs:
    """The catalog with a memory, and the secrets each program declares."""

    def __init__(
        self,
        catalog: Catalog,
        keychain: Keychain,
        clock: Clock,
        *,
        extensions: Extensions | None = None,
    ) -> None:
        self._catalog = catalog
        self._extensions = extensions
        self._keychain = keychain
        self._clock = clock
        self._known: dict[str, Document] = {}
        self._lookups = SingleFlight(self._look_up)

    def read(self, source: str | bytes, file: str, *, dialect: str | None = None) -> Document:
        """Compile a document with the extensions of this engine."""
        return read_document(source, file, dialect=dialect, extensions=self._extensions)

    async def keep(self, document: Document) -> None:
        """Put a document into the catalog, so that its runs can go on anywhere."""
        if document.program.digest not in self._known:
            await self._catalog.keep(self._stored(document))
        self._remember(document)

    async def register(self, document: Document) -> int:
        """Make a document the newest version of its name; the version.

        ConfigError (`PathTaken`) when another program has its path.
        """
        await check_path(self._catalog, document.program.path, document.program.name)
        stored = await self._catalog.register(self._stored(document))
        self._remember(document)
        return stored.version

    def _stored(self, document: Document) -> StoredProgram:
        program = document.program
        return StoredProgram(
            digest=program.digest,
            name=program.name,
            version=0,
            source=document.source,
            file=document.file,
            registered_at=self._clock.now(),
            dialect=document.dialect,
            files=document.files,
            path=program.path,
            tools=self._places_of_tools(program),
        )

    def _places_of_tools(self, program: Program) -> dict[str, str]:
        """By kind, where the Python code is that its tasks call, as far as others can import it."""
        given = self._extensions.kinds if self._extensions is not None else {}
        rows = {**MODULE_KINDS, **(given if isinstance(given, Mapping) else {})}
        called = {task.kind for task in program.tasks} - KINDS.keys()
        found = ((kind, rows[kind].tool) for kind in sorted(called & rows.keys()))
        return {kind: place for kind, place in found if place is not None}

    async def get(self, digest: str) -> Document:
        known = self._known.get(digest)
        if known is not None:
            self._remember(known)
            return known
        stored = await self._catalog.get(digest)
        if stored is None:
            raise ConfigError(f"the catalog has no program with the digest {digest}")
        return await self._compiled(stored)

    async def find(self, name: str, version: int | None = None) -> Document:
        """By name, else by path; the newest version unless one is asked for.

        What was registered before this is called is found, wherever that was. ConfigError
        when there is none (`NotRegistered`), or several have the path (`PathOfSeveral`).
        """
        stored = await self._lookups.ask((name, version))
        if stored is None:
            raise NotRegistered(name if version is None else f"{name} version {version}")
        return await self.of(stored)

    async def of(self, stored: StoredProgram) -> Document:
        """A row of the catalog, compiled, with the file that its sender named."""
        known = self._known.get(stored.digest)
        if known is None:
            known = await self._compiled(stored)
        else:
            self._remember(known)
        return known if known.file == stored.file else replace(known, file=stored.file)

    async def _look_up(self, which: tuple[str, int | None]) -> StoredProgram | None:
        return await find_program(self._catalog, *which)

    async def secrets(
        self, program: Program, folder: Path, *, is_child: bool = False
    ) -> Secrets | None:
        """What a run of it may read; None when it cannot come across a secret."""
        return await self._keychain.secrets_for(program, folder=folder, is_child=is_child)

    def learn(self, program: Program, missing: MissingSecret) -> None:
        """A run of it reads credentials nobody could foresee: have them from now on."""
        self._keychain.learn(program, missing)

    async def _compiled(self, stored: StoredProgram) -> Document:
        compile_it = partial(compiled_again, stored, self._extensions)
        document = await compiled_beside(compile_it, len(stored.source))
        self._remember(document)
        return document

    def _remember(self, document: Document) -> None:
        """Keep it, as the one used last: those used longest ago are forgotten first."""
        self._known.pop(document.program.digest, None)
        self._known[document.program.digest] = document
        if len(self._known) > PROGRAMS_MAX:
            del self._known[next(iter(self._known))]
