"""Compile the documents that requests bring. Nothing is read from the server's disk for them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from functools import partial

import msgspec
from msgspec import Struct

from anew.errors import ProgramError
from anew.languages import Loaded, load_text
from anew.languages.limits import document_bytes_max
from anew.program.findings import Finding
from anew.runtime.programs import Document, compiled_beside
from anew.surfaces.api.problems import Refusal, too_large
from anew.views.findings import has_error

# What a document is called whose sender names no file; its language is told by how it begins.
UNNAMED = "document"
# Clients start many runs of one document; a compiled one is about a megabyte.
DOCUMENTS_KEPT_MAX = 32
# Less than a request may take, so that whoever waits is told what for.
COMPILING_SECONDS_MAX = 8.0


class Source(Struct, frozen=True):
    """A document as a request brings it, with the texts of the files it names."""

    text: str
    file: str | None = None
    dialect: str | None = None
    files: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        return self.file or UNNAMED


class Compiled(Struct, frozen=True):
    """`document` is None when one of the findings is an error."""

    document: Document | None
    findings: list[Finding]
    strict: list[Finding]


class Compiler:
    """Remembers what it compiled last."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Compiled] = {}

    async def document(self, source: Source) -> Compiled:
        """A compiled document with its findings; ProgramError when it has errors."""
        compiled = await self.look_into(source)
        if compiled.document is None:
            raise ProgramError([found for found in compiled.findings if _is_error(found)])
        return compiled

    async def look_into(self, source: Source) -> Compiled:
        """What is in a document, errors or not."""
        size, limit = len(source.text.encode()), document_bytes_max()
        if size > limit:
            raise too_large("the document", size, limit=limit, name="ANEW_DOCUMENT_BYTES_MAX")
        digest = hashlib.sha256(msgspec.json.encode(source)).digest()
        known = self._kept.pop(digest, None)
        if known is None:
            known = await _compiled(source, size)
        self._kept[digest] = known
        if len(self._kept) > DOCUMENTS_KEPT_MAX:
            del self._kept[next(iter(self._kept))]
        return known


async def _compiled(source: Source, size: int) -> Compiled:
    try:
        async with asyncio.timeout(COMPILING_SECONDS_MAX):
            return await compiled_beside(partial(_compile, source), size)
    except TimeoutError:
        detail = (
            f"the document was not compiled within {COMPILING_SECONDS_MAX:g} s: it is long, or "
            "others are compiled before it. Try again, or split it"
        )
        raise Refusal("unavailable", detail, headers={"Retry-After": "1"}) from None


def _compile(source: Source) -> Compiled:
    loaded = load_text(source.text, source.name, dialect=source.dialect, files=dict(source.files))
    findings, strict = list(loaded.findings), list(loaded.strict)
    return Compiled(_document(source, loaded), findings, strict)


def _document(source: Source, loaded: Loaded) -> Document | None:
    if loaded.program is None or has_error(loaded.findings):
        return None
    # As its sender says it: where this server was started is nobody's concern.
    return Document(loaded.program, source.text, source.name, loaded.dialect, loaded.files)


def _is_error(found: Finding) -> bool:
    return has_error([found])
