"""A file as a side of a transfer.

Beside a target lies a small file with the progress of the transfers into it. A batch that was half
written when its process died is known from it, and is cut off before the next one is written.
"""

from __future__ import annotations

import csv
import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct, field

from anew.program.transfer import FORMAT_WORDS, RowFormat, TransferMode
from anew.tools.inputs import BadInput
from anew.tools.sql.failure import SqlFailure
from anew.tools.sql.threads import Interruption
from anew.tools.transfer.embedded import taken
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.resources import TransferResources
from anew.tools.transfer.row_formats import csv_text, json_line, rows_of
from anew.tools.transfer.sides import Batch, Copied, Row
from anew.tools.transfer.statements import columns_of
from anew.tools.transfer.threaded import ThreadedSource, ThreadedTarget
from anew.tools.transfer.whole_files import write_whole
from anew.values import Value

# Transfers into one file that are remembered; the oldest is forgotten first.
FILE_TRANSFERS_MAX = 1000
_LOCK_RETRY_SECONDS = 0.01
_TAIL_BYTES = 64


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
            file = self._open.enter_context(open(self._path, encoding="utf-8", newline=""))  # noqa: SIM115
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
    """A batch that is being written: where it begins, and what stood there before."""

    offset: int
    tail: str = ""


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
        self._beside = self._path.with_name(f".{self._path.name}.anew-transfer")

    def begin(self, interruption: Interruption) -> Copied:
        with self._locked(interruption) as (file, journal):
            known = journal.transfers.get(self._plan.key)
            if known is not None:
                return known
            if self._plan.mode is TransferMode.REPLACE:
                file.truncate(0)
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
            if rows or self._is_without_list(file):
                self._add(file, journal, rows)
            self._note(journal, after)

    def close(self) -> None:
        """Nothing is kept open between batches."""

    @contextmanager
    def _locked(self, interruption: Interruption) -> Iterator[tuple[BinaryIO, _Journal]]:
        """The file, to which nobody else adds rows now, without a half-written batch."""
        with _naming(self._path), open(self._path, "a+b") as file:
            while not _lock(file):
                interruption.raise_if_stopped()
                interruption.wait(_LOCK_RETRY_SECONDS)
            journal = self._journal()
            if journal.writing is not None:
                file.truncate(journal.writing.offset)
                file.seek(0, os.SEEK_END)
                file.write(journal.writing.tail.encode())
                file.flush()
            yield file, journal

    def _journal(self) -> _Journal:
        try:
            return msgspec.json.decode(self._beside.read_bytes(), type=_Journal)
        except FileNotFoundError:
            return _Journal()
        except msgspec.DecodeError:
            raise BadInput(f"{self._beside.name} next to the file is damaged: remove it") from None

    def _note(self, journal: _Journal, progress: Copied) -> None:
        journal.writing = None
        journal.transfers.pop(self._plan.key, None)
        while len(journal.transfers) >= FILE_TRANSFERS_MAX:
            del journal.transfers[next(iter(journal.transfers))]
        journal.transfers[self._plan.key] = progress
        write_whole(self._beside, msgspec.json.encode(journal))

    def _add(self, file: BinaryIO, journal: _Journal, rows: list[Row]) -> None:
        end = file.seek(0, os.SEEK_END)
        kept, tail = self._cut(file, end) if self._format is RowFormat.JSON else ("", "")
        text = self._text(file, rows, is_new=not end, after=kept)
        offset = end - len(tail.encode())
        journal.writing = _Opened(offset, tail)
        write_whole(self._beside, msgspec.json.encode(journal))
        file.truncate(offset)
        file.seek(0, os.SEEK_END)
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())

    def _text(self, file: BinaryIO, rows: list[Row], *, is_new: bool, after: str) -> str:
        match self._format:
            case RowFormat.CSV:
                header = None if is_new else _header(file)
                columns = header or columns_of(rows)
                return csv_text(rows, columns, has_header=header is not None)
            case RowFormat.JSON_LINES:
                return "".join(f"{json_line(row)}\n" for row in rows)
            case RowFormat.JSON:
                start = "[" if is_new else "" if after.endswith("[") else ","
                lines = "".join(f"\n{json_line(row)}," for row in rows).removesuffix(",")
                return f"{start}{lines}\n]\n"

    def _is_without_list(self, file: BinaryIO) -> bool:
        """Whether an end without rows must still make a JSON file that can be read."""
        return self._format is RowFormat.JSON and not file.seek(0, os.SEEK_END)

    def _cut(self, file: BinaryIO, end: int) -> tuple[str, str]:
        """The last of a JSON list: what stays, and the bracket that new rows go before."""
        if not end:
            return "", ""
        file.seek(max(0, end - _TAIL_BYTES))
        last = file.read().decode(errors="replace")
        found = last.rstrip()
        if not found.endswith("]"):
            raise BadInput(f"{self._path.name} is not a JSON list, so no rows can be added to it")
        kept = found[:-1].rstrip()
        return kept, last[len(kept) :]


def _lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _header(file: BinaryIO) -> list[str] | None:
    file.seek(0)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        return next(csv.reader(text), None)
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
        why = (error.strerror or "it cannot be used").lower()
        raise SqlFailure("config", f"{str(path)!r}: {why}") from None
