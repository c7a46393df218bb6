"""Compile the documents that requests bring. Nothing is read from the server's disk for them."""

from __future__ import annotations

import asyncio
import hashlib
from functools import partial

import msgspec
from msgspec import Struct

from anew.errors import ProgramError
from anew.languages import Loaded, load_text
from anew.languages.limits import document_bytes_max
from anew.program.findings import Finding, errors_in, has_error
from anew.runtime.programs import Document, compiled_beside
from anew.surfaces.api.problems import ApiError, too_large
from anew.surfaces.api.shapes import Dialect, Name

# What a document is called whose sender names no file; its language is told by how it begins.
UNNAMED = "document"
# Clients start many runs of one document; a compiled one is about a megabyte.
DOCUMENTS_KEPT_MAX = 32
# Less than a request may take, so that whoever waits is told what for.
COMPILING_SECONDS_MAX = 8.0


class DocumentSource(Struct, forbid_unknown_fields=True):
    """A document as a request brings it: its text, its file name, the texts of files it names."""

    document: str
    file: Name | None = None
    dialect: Dialect | None = None
    files: dict[str, str] = {}

    @property
    def name(self) -> str:
        return self.file or UNNAMED


class CompiledDocument(Struct, frozen=True):
    """`document` is None when one of the findings is an error."""

    document: Document | None
    findings: list[Finding]
    strict: list[Finding]

    def checked(self) -> Document:
        """The document; ProgramError when it has errors."""
        if self.document is None:
            raise ProgramError(errors_in(self.findings))
        return self.document


class DocumentCompiler:
    """Remembers what it compiled last."""

    def __init__(self) -> None:
        self._kept: dict[bytes, CompiledDocument] = {}

    async def document(self, source: DocumentSource) -> Document:
        """The compiled document; ProgramError when it has errors."""
        return (await self.inspect(source)).checked()

    async def inspect(self, source: DocumentSource) -> CompiledDocument:
        """What is in a document, errors or not."""
        size, limit = len(source.document.encode()), document_bytes_max()
        if size > limit:
            raise too_large("the document", size, limit=limit, name="ANEW_DOCUMENT_BYTES_MAX")
        parts = (source.document, source.file, source.dialect, source.files)
        digest = hashlib.sha256(msgspec.json.encode(parts)).digest()
        known = self._kept.pop(digest, None)
        if known is None:
            known = await _compiled(source, size)
        self._kept[digest] = known
        if len(self._kept) > DOCUMENTS_KEPT_MAX:
            del self._kept[next(iter(self._kept))]
        return known


async def _compiled(source: DocumentSource, size: int) -> CompiledDocument:
    try:
        async with asyncio.timeout(COMPILING_SECONDS_MAX):
            return await compiled_beside(partial(_compile, source), size)
    except TimeoutError:
        detail = (
            f"the document was not compiled within {COMPILING_SECONDS_MAX:g} s: it is long, or "
            "others are compiled before it. Try again, or split it"
        )
        raise ApiError("unavailable", detail, headers={"Retry-After": "1"}) from None


def _compile(source: DocumentSource) -> CompiledDocument:
    loaded = load_text(source.document, source.name, dialect=source.dialect, files=source.files)
    findings, strict = list(loaded.findings), list(loaded.strict)
    return CompiledDocument(_document(source, loaded), findings, strict)


def _document(source: DocumentSource, loaded: Loaded) -> Document | None:
    if loaded.program is None or has_error(loaded.findings):
        return None
    # As its sender says it: where this server was started is nobody's concern.
    return Document(loaded.program, source.document, source.name, loaded.dialect, loaded.files)
