"""The files of the built page, read once and kept in memory.

What is asked for is looked up among them by its whole path, so that no path leads anywhere else.
"""

from __future__ import annotations

import gzip
import mimetypes
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

BUILT = Path(__file__).parent / "built"
INDEX = "/index.html"
# Files whose names carry the checksum of what is in them.
_NAMED_BY_CONTENT = "/assets/"
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
# A smaller one would not get smaller.
_GZIP_BYTES_MIN = 1_000
_TEXTS = ("text/", "application/javascript", "image/svg+xml")
# Not every system knows them, and a browser runs no script of another type.
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class File(Struct, frozen=True):
    """`packed` is what it is in gzip, None where that would be no smaller."""

    data: bytes
    packed: bytes | None
    media_type: str
    cache: str
    etag: str


def is_built(folder: Path = BUILT) -> bool:
    return (folder / INDEX.lstrip("/")).is_file()


def built_files(folder: Path = BUILT) -> dict[str, File]:
    """By path, as a browser asks for it; empty when the page was not built."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"/{path.relative_to(folder).as_posix()}": _file(path, folder) for path in found}


def _file(path: Path, folder: Path) -> File:
    data = path.read_bytes()
    name = f"/{path.relative_to(folder).as_posix()}"
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(name)[0]
    media_type = media_type or "application/octet-stream"
    is_text = media_type.startswith(_TEXTS)
    packs = is_text and len(data) >= _GZIP_BYTES_MIN
    return File(
        data=data,
        packed=gzip.compress(data, mtime=0) if packs else None,
        media_type=media_type,
        cache=_FOR_EVER if name.startswith(_NAMED_BY_CONTENT) else _ASK_AGAIN,
        etag=f'"{sha256(data).hexdigest()[:32]}"',
    )
