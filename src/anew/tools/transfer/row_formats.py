"""Rows in text: CSV, JSON lines and JSON, read piece by piece and written in one form.

An empty field of a CSV file is null: CSV has no other way to say it. Knows no file and no server.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from anew.program.transfer import RowFormat
from anew.tools.inputs import BadInput
from anew.tools.sql.failure import passed_limit
from anew.tools.sql.values import json_value
from anew.tools.transfer.sides import Row, field_at
from anew.values import json_text

_PIECE_CHARS = 1 << 16
# A JSON document that is no list of rows is read whole.
TRANSFER_JSON_CHARS_MAX = 32 << 20
# A row of CSV or JSON lines, with all its lines. One without an end must not fill the memory.
TRANSFER_ROW_CHARS_MAX = 32 << 20
_SPACE = " \t\r\n\ufeff"
_BETWEEN = re.compile(r"[\s,]*")


def rows_of_text(text: str, form: RowFormat, path: str) -> list[Row]:
    return list(rows_of(io.StringIO(text, newline=""), form, path))


def rows_of(file: TextIO, form: RowFormat, path: str) -> Iterator[Row]:
    """The rows of a file, one by one; BadInput says where it cannot be read."""
    match form:
        case RowFormat.CSV:
            return _csv_rows(file)
        case RowFormat.JSON_LINES:
            return _json_lines(file)
        case RowFormat.JSON:
            return _json_rows(file, path)


def rows_in(data: object, path: str) -> list[Row]:
    """The rows in a value: a list of objects at `path`, or one object."""
    found = field_at(data, path) if path else data
    if found is None and path:
        raise BadInput(f"`data_path` is {path!r}, where the answer has nothing")
    items = found if isinstance(found, list) else [found]
    return [_row(item, number) for number, item in enumerate(items, 1)]


def _row(item: object, number: int) -> Row:
    if not isinstance(item, Mapping):
        raise BadInput(
            f"row {number} is {type(item).__name__}, not an object; `data_path` names where the "
            "list of rows is"
        )
    return dict(item)


class _Lines:
    """The lines of a text, as long as those of one row are not too long together."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._number = 0
        self._row_chars = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._file.readline(TRANSFER_ROW_CHARS_MAX - self._row_chars + 1)
        if not line:
            raise StopIteration
        self._number += 1
        self._row_chars += len(line)
        if self._row_chars > TRANSFER_ROW_CHARS_MAX:
            raise passed_limit(
                f"the row at line {self._number} is longer than {TRANSFER_ROW_CHARS_MAX:,} "
                "characters (TRANSFER_ROW_CHARS_MAX)"
            )
        return line

    def start_row(self) -> None:
        self._row_chars = 0


def _records(file: TextIO) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text, each with the number of its last line."""
    lines = _Lines(file)
    reader = csv.reader(lines)
    try:
        for fields in reader:
            lines.start_row()
            yield reader.line_num, fields
    except csv.Error as error:
        raise BadInput(f"line {reader.line_num} cannot be read as CSV: {error}") from None


def csv_header(file: TextIO) -> list[str] | None:
    """The names of the columns of a CSV text; None when it is empty."""
    return next((fields for _, fields in _records(file)), None)


def _csv_rows(file: TextIO) -> Iterator[Row]:
    records = _records(file)
    _, names = next(records, (0, []))
    if names:
        names[0] = names[0].removeprefix("\ufeff")
    for line, fields in records:
        if not fields:
            continue
        if len(fields) > len(names):
            raise BadInput(f"line {line} has {len(fields)} fields, the header {len(names)}")
        values = [field or None for field in fields]
        yield dict(zip(names, [*values, *[None] * (len(names) - len(values))], strict=True))


def _json_lines(file: TextIO) -> Iterator[Row]:
    lines = _Lines(file)
    for number, line in enumerate(lines, 1):
        lines.start_row()
        text = line.strip(_SPACE)
        if text:
            yield _row(_parsed(text, f"line {number}"), number)


def _json_rows(file: TextIO, path: str) -> Iterator[Row]:
    """The rows of a list one by one; anything else is read whole."""
    start = file.read(_PIECE_CHARS)
    if not path and start.lstrip(_SPACE).startswith("["):
        yield from _items(file, start.lstrip(_SPACE)[1:])
        return
    text = start + file.read(TRANSFER_JSON_CHARS_MAX)
    if len(text) > TRANSFER_JSON_CHARS_MAX:
        raise BadInput(
            f"the JSON is longer than {TRANSFER_JSON_CHARS_MAX:,} characters "
            "(TRANSFER_JSON_CHARS_MAX): write the rows as JSON lines, or as a list without "
            "anything around it"
        )
    if text.strip(_SPACE):
        yield from rows_in(_parsed(text.strip(_SPACE), "the JSON"), path)


def _items(file: TextIO, rest: str) -> Iterator[Row]:
    """The items of a JSON list whose bracket has been read, with one piece in memory at a time."""
    decoder = json.JSONDecoder()
    number, at = 0, 0
    while True:
        between = _BETWEEN.match(rest, at)
        at = between.end() if between else at
        if rest.startswith("]", at):
            return
        try:
            item, at = decoder.raw_decode(rest, at)
        except (ValueError, RecursionError):
            piece = file.read(_PIECE_CHARS + len(rest) - at)
            if not piece or len(rest) - at > TRANSFER_JSON_CHARS_MAX:
                raise BadInput(f"row {number + 1} of the list cannot be read as JSON") from None
            rest, at = rest[at:] + piece, 0
            continue
        number += 1
        yield _row(item, number)


def _parsed(text: str, what: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(f"{what} cannot be read as JSON") from None


# --- writing -------------------------------------------------------------------------------------


def csv_text(rows: Iterable[Row], columns: Sequence[str], *, has_header: bool) -> str:
    """Rows as CSV. A row with a column that the file does not have is refused."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not has_header:
        writer.writerow(columns)
    for row in rows:
        unknown = next((name for name in row if name not in columns), None)
        if unknown is not None:
            raise BadInput(
                f"a row has the column {unknown!r}, which the file does not have "
                f"({', '.join(columns)}): name the columns with `mapping`"
            )
        writer.writerow([_field(row.get(name)) for name in columns])
    return text.getvalue()


def _field(value: object) -> str:
    shown = json_value(value)
    if shown is None or isinstance(shown, str):
        return shown or ""
    return json_text(shown)


def json_line(row: Row) -> str:
    return json_text(json_value(row))
