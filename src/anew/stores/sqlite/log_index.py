"""Whether a database or its log that became shorter still has everything that was committed.

SQLite shortens both: a checkpoint cuts back the log, and after `VACUUM` the database. What has to
be there stands in the index of the log, which all connections share.
Knows the layout of both (https://sqlite.org/walformat.html). Changes nothing.
"""

from __future__ import annotations

import os
from struct import Struct
from typing import NamedTuple

# The index begins with this header, twice: version, (unused), count of changes, is it made, byte
# order of checksums, bytes per page (1 is 65,536), frames of the log, pages of the database.
_HEADER = Struct("=IIIBBHII")
_HEADER_BYTES = 48
_LOG_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_PAGE_NUMBER = Struct(">I")
# Someone may write the header just now; it takes nanoseconds.
_LOOKS_MAX = 100


class _Index(NamedTuple):
    page_bytes: int
    frames: int
    pages: int


def log_is_whole(log: str, index: str) -> bool:
    """Whether the log has all frames that the index counts. One that was checkpointed needs none.

    False when nobody can tell: this process must have the index open by SQLite.
    """
    for _ in range(_LOOKS_MAX):
        before = _read(index)
        if before is None:
            continue
        frame_bytes = _FRAME_HEADER_BYTES + before.page_bytes
        needed = _LOG_HEADER_BYTES + before.frames * frame_bytes if before.frames else 0
        has_all = _size(log) >= needed
        if _read(index) == before:
            return has_all
    return False


def database_is_whole(database: str, log: str, index: str) -> bool:
    """Whether each page is in the file or in the log. False when nobody can tell."""
    for _ in range(_LOOKS_MAX):
        before = _read(index)
        if before is None:
            continue
        there = _size(database) // before.page_bytes
        # Without its first page, SQLite takes a database for new, and removes the log.
        has_all = there > 0 and before.pages > 0
        if has_all and there < before.pages:
            logged = _logged_pages(log, before)
            has_all = all(page in logged for page in range(there + 1, before.pages + 1))
        if _read(index) == before:
            return has_all
    return False


def _read(index: str) -> _Index | None:
    """None while it is being written, and where it cannot be read."""
    fd = _open_descriptor(index)
    try:
        found = b"" if fd is None else os.pread(fd, 2 * _HEADER_BYTES, 0)
    except OSError:
        return None
    if len(found) < 2 * _HEADER_BYTES or found[:_HEADER_BYTES] != found[_HEADER_BYTES:]:
        return None
    _, _, _, is_made, _, page_bytes, frames, pages = _HEADER.unpack_from(found)
    if not is_made or not page_bytes:
        return None
    return _Index(65_536 if page_bytes == 1 else page_bytes, frames, pages)


def _logged_pages(log: str, index: _Index) -> set[int]:
    fd = _open_descriptor(log)
    if fd is None:
        return set()
    frame_bytes = _FRAME_HEADER_BYTES + index.page_bytes
    starts = (_LOG_HEADER_BYTES + number * frame_bytes for number in range(index.frames))
    found = (os.pread(fd, _PAGE_NUMBER.size, start) for start in starts)
    return {_PAGE_NUMBER.unpack(one)[0] for one in found if len(one) == _PAGE_NUMBER.size}


def _open_descriptor(path: str) -> int | None:
    """That by which SQLite has the file open: to close one of ours would give up its locks."""
    try:
        wanted = os.lstat(path)
        descriptors = [int(name) for name in os.listdir("/dev/fd")]
    except (OSError, ValueError):
        return None
    for fd in descriptors:
        try:
            found = os.fstat(fd)
        except OSError:
            continue  # that of the listing itself
        if (found.st_ino, found.st_dev) == (wanted.st_ino, wanted.st_dev):
            return fd
    return None


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1
