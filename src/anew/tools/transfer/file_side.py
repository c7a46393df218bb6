"""A file as a side of a transfer.

Beside a target lies a small file with the progress of the transfers into it. A batch that was half
written when its process died is known from it, and is cut off before the next one is written.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct, field

from anew.files import open_regular
from anew.posix import lock
from anew.program.transfer import FORMAT_WORDS, RowFormat, TransferMode
from anew.tools.inputs import BadInput
from anew.tools.sql.failure import SqlFailure
from anew.tools.sql.threads import Interruption
from anew.tools.transfer.embedded import taken
from anew.tools.transfer.onto_itself import is_one_file, refuse_own_file
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.resources import TransferResources
from anew.tools.transfer.row_formats import csv_header, csv_text, json_line, rows_of
from anew.tools.transfer.sides import Batch, Copied, Row
from anew.tools.transfer.statements import columns_of
from anew.tools.transfer.threaded import ThreadedSource, ThreadedTarget
from anew.tools.transfer.whole_files import write_whole
from anew.values import Value

# Transfers into one file that are remembered; the oldest is forgotten first.
FILE_TRANSFERS_MAX = 1000
_LOCK_RETRY_SECONDS = 0.01
_BLOCK_BYTES = 4096
# Bytes before a batch by which a file is known again after a crash.
_BEFORE_BYTES = 64
_LIST_END = "\n]\n"
# What the author can set right: another path, other rights. The rest is the machine's.
_OF_AUTHOR = frozenset(
    getattr(errno, name)
    for name in "EACCES EPERM EISDIR ENOTDIR EINVAL ELOOP ENAMETOOLONG ENXIO EROFS".split()
)


def format_of(side: Side, path: Path) -> RowFormat:
    """The format that a side says, else the one of the file's name."""
    said = side.text("format")
    form = FORMAT_WORDS.get((said or path.suffix.removeprefix(".")).strip().lower())
    if form is None:
        words = ", ".join(RowFormat)
        found = f"it is {said!r}" if said else f"the name {path.name!r} does not say it"
        raise BadInput(f"`format` must be {words}; {found}")
    return form


def _path_of(side: Side) -> Path:
    return side.call.folder / str(side.text("path"))


def source_of(side: Side, resources: TransferResources) -> ThreadedSource:
    return ThreadedSource(FileReader(side), resources.threads)


def target_of(plan: TransferPlan, resources: TransferResources) -> ThreadedTarget:
    return ThreadedTarget(FileWriter(plan), resources.threads)


class FileReader:
    """The rows of a file. The position is the number of rows before it."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._path = _path_of(side)
        self._format = format_of(side, self._path)
        self._open = ExitStack()

    def open(self, position: Value, interruption: Interruption) -> None:
        interruption.raise_if_stopped()
        with _naming(self._path):
            file = self._open.enter_context(
                open(self._path, encoding="utf-8", newline="", opener=open_regular)  # noqa: SIM115
            )
        self._count = position["rows"] if isinstance(position, dict) else 0
        self._rows = rows_of(file, self._format, self._side.text("data_path") or "")
        with _naming(self._path):
            for _ in islice(self._rows, self._count):
                interruption.raise_if_stopped()

    def read(self, count: int, interruption: Interruption) -> Batch:
        interruption.raise_if_stopped()
        with _naming(self._path):
            rows = list(islice(self._rows, count))
        self._count += len(rows)
        return Batch(rows, {"rows": self._count})

    def close(self) -> None:
        self._open.close()


class _Opened(Struct, frozen=True):
    """A batch that is being written: where it begins, what stood there, and in which file."""

    offset: int
    tail: str
    inode: int
    before: bytes  # the last of what is before the batch
    size_max: int  # of the file, with the batch


class _Journal(Struct):
    """The file beside a target: its transfers, and the batch that is being written."""

    transfers: dict[str, Copied] = field(default_factory=dict)
    writing: _Opened | None = None


class FileWriter:
    """Adds rows to a file."""

    def __init__(self, plan: TransferPlan) -> None:
        self._plan = plan
        self._path = _path_of(plan.target)
        self._format = format_of(plan.target, self._path)
        if plan.source.kind.name == "file" and is_one_file(_path_of(plan.source), self._path):
            refuse_own_file()
        self._beside = self._path.with_name(f".{self._path.name}.anew-transfer")

    def begin(self, interruption: Interruption) -> Copied:
        with self._locked(interruption) as (file, journal):
            known = journal.transfers.get(self._plan.key)
            if known is not None:
                return known
            if self._plan.mode is TransferMode.REPLACE:
                file.truncate(0)
            else:
                self._cut_off(file, journal)
            self._note(journal, Copied())
        return Copied()

    def write(
        self,
        rows: list[Row],
        before: Copied,
        after: Copied,
        interruption: Interruption,
    ) -> None:
        with self._locked(interruption) as (file, journal):
            if journal.transfers.get(self._plan.key) != before:
                raise taken()
            self._cut_off(file, journal)
            if rows or self._is_without_list(file):
                self._add(file, journal, rows)
            self._note(journal, after)

    def close(self) -> None:
        """Nothing is kept open between batches."""

    @contextmanager
    def _locked(self, interruption: Interruption) -> Iterator[tuple[BinaryIO, _Journal]]:
        """The file, to which nobody else adds rows now."""
        with _naming(self._path), open(self._path, "a+b", opener=open_regular) as file:
            while not _lock(file):
                interruption.raise_if_stopped()
                interruption.wait(_LOCK_RETRY_SECONDS)
            yield file, self._journal()

    def _journal(self) -> _Journal:
        try:
            with open(self._beside, "rb", opener=open_regular) as file:
                return msgspec.json.decode(file.read(), type=_Journal)
        except FileNotFoundError:
            return _Journal()
        except msgspec.DecodeError:
            raise BadInput(f"{self._beside.name} next to the file is damaged: remove it") from None

    def _cut_off(self, file: BinaryIO, journal: _Journal) -> None:
        """Remove a half-written batch; BadInput when the file is no longer the one it is in."""
        opened, journal.writing = journal.writing, None
        if opened is None:
            return
        found = os.fstat(file.fileno())
        is_same = found.st_ino == opened.inode and opened.offset <= found.st_size <= opened.size_max
        if not is_same or _before(file, opened.offset) != opened.before:
            raise BadInput(
                f"{self._path.name} was changed after a transfer was interrupted in the middle of "
                f"a batch: look at its last rows, then remove {self._beside.name} next to it, "
                "which lets transfers into it start again"
            )
        file.truncate(opened.offset)
        file.seek(0, os.SEEK_END)
        file.write(opened.tail.encode())
        file.flush()

    def _note(self, journal: _Journal, progress: Copied) -> None:
        journal.writing = None
        journal.transfers.pop(self._plan.key, None)
        while len(journal.transfers) >= FILE_TRANSFERS_MAX:
            del journal.transfers[next(iter(journal.transfers))]
        journal.transfers[self._plan.key] = progress
        write_whole(self._beside, msgspec.json.encode(journal))

    def _add(self, file: BinaryIO, journal: _Journal, rows: list[Row]) -> None:
        end = offset = file.seek(0, os.SEEK_END)
        tail = ""
        if end and self._format is RowFormat.JSON:
            offset, tail = self._end_of_items(file, end), _LIST_END
        before = _before(file, offset)
        text = self._text(file, rows, before[-1:]).encode()
        inode, size_max = os.fstat(file.fileno()).st_ino, max(end, offset + len(text))
        journal.writing = _Opened(offset, tail, inode, before, size_max)
        write_whole(self._beside, msgspec.json.encode(journal))
        file.truncate(offset)
        file.seek(0, os.SEEK_END)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())

    def _text(self, file: BinaryIO, rows: list[Row], last: bytes) -> str:
        """What is added after the byte `last`, which is empty at the start of a file."""
        line_end = "" if last in (b"", b"\n", b"\r") else "\n"
        match self._format:
            case RowFormat.CSV:
                header = _header(file) if last else None
                columns = header or columns_of(rows)
                return line_end + csv_text(rows, columns, has_header=header is not None)
            case RowFormat.JSON_LINES:
                return line_end + "".join(f"{json_line(row)}\n" for row in rows)
            case RowFormat.JSON:
                start = {b"": "[", b"[": ""}.get(last, ",")
                lines = "".join(f"\n{json_line(row)}," for row in rows).removesuffix(",")
                return f"{start}{lines}{_LIST_END}"

    def _is_without_list(self, file: BinaryIO) -> bool:
        """Whether an end without rows must still make a JSON file that can be read."""
        return self._format is RowFormat.JSON and not file.seek(0, os.SEEK_END)

    def _end_of_items(self, file: BinaryIO, end: int) -> int:
        """Where new rows go in a JSON list: after its last item, or after its first bracket."""
        bracket = _without_space(file, end)
        offset = _without_space(file, bracket - 1) if _before(file, bracket)[-1:] == b"]" else 0
        if not offset:
            raise BadInput(f"{self._path.name} is not a JSON list, so no rows can be added to it")
        return offset


def _lock(file: BinaryIO) -> bool:
    try:
        lock(file.fileno())
    except BlockingIOError:
        return False
    return True


def _before(file: BinaryIO, offset: int) -> bytes:
    """The last bytes of a file before an offset."""
    start = max(0, offset - _BEFORE_BYTES)
    file.seek(start)
    return file.read(offset - start)


def _without_space(file: BinaryIO, end: int) -> int:
    """Where a text that goes up to `end` ends, without the space there."""
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        kept = file.read(end - start).rstrip()
        if kept:
            return start + len(kept)
        end = start
    return 0


def _header(file: BinaryIO) -> list[str] | None:
    file.seek(0)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        return csv_header(text)
    finally:
        text.detach()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """What the system refuses becomes a failure with a kind."""
    try:
        yield
    except FileNotFoundError:
        message = f"there is no file {str(path)!r}, or no folder for it"
        raise SqlFailure("reference", message) from None
    except UnicodeDecodeError:
        raise SqlFailure("config", f"{str(path)!r} is not UTF-8 text") from None
    except OSError as error:
        if error.errno not in _OF_AUTHOR:
            raise
        why = (error.strerror or "it cannot be used").lower()
        raise SqlFailure("config", f"{str(path)!r}: {why}") from None
