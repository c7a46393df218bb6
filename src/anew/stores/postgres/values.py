"""How values travel to PostgreSQL and back.

Every parameter goes without a type of its own, so that the server takes the one the statement
asks for: a statement is then prepared once, whatever is bound to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Form
from struct import pack
from typing import Any

from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

from anew.engine.state import Key
from anew.store import JobRef, RunId

# How the key of a job outside loops is written, so that it can be part of a primary key.
NO_ITERATION = -1

# The numbers PostgreSQL has for types of elements.
_BOOLEAN, _BYTES, _INTEGER, _TEXT, _JSON = 16, 17, 20, 25, 114
_NULL = pack(">i", -1)
_integer = Form(">q").pack
_length = Form(">i").pack


class Array(Struct, frozen=True):
    """Of one dimension."""

    values: Sequence[Any]


class TextArray(Array, frozen=True):
    pass


class IntegerArray(Array, frozen=True):
    pass


class BooleanArray(Array, frozen=True):
    pass


class BytesArray(Array, frozen=True):
    pass


class JsonArray(Array, frozen=True):
    """Of JSON that is encoded already."""


class _IntegerDumper(Dumper):
    def dump(self, obj: Any) -> Buffer:
        return b"%d" % obj


class _BooleanDumper(Dumper):
    def dump(self, obj: Any) -> Buffer:
        return b"t" if obj else b"f"


class _BytesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        buffer: bytes = obj
        return buffer


class _TextArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return _array(_TEXT, [None if one is None else one.encode() for one in obj.values])


class _IntegerArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return _array(_INTEGER, [None if one is None else _integer(one) for one in obj.values])


class _BooleanArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return _array(
            _BOOLEAN, [None if one is None else (b"\1" if one else b"\0") for one in obj.values]
        )


class _BytesArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return _array(_BYTES, obj.values)


class _JsonArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return _array(_JSON, obj.values)


_DUMPERS: tuple[tuple[type, type[Dumper]], ...] = (
    (int, _IntegerDumper),
    (bool, _BooleanDumper),
    (bytes, _BytesDumper),
    (TextArray, _TextArrayDumper),
    (IntegerArray, _IntegerArrayDumper),
    (BooleanArray, _BooleanArrayDumper),
    (BytesArray, _BytesArrayDumper),
    (JsonArray, _JsonArrayDumper),
)


def teach(connection: AsyncConnection[Any]) -> None:
    """Make a connection send values this way."""
    for kind, dumper in _DUMPERS:
        connection.adapters.register_dumper(kind, dumper)


def to_text(text: str) -> str:
    """As a text column can keep it: the character 0 becomes two. The order stays the same."""
    if "\0" in text or "\1" in text:
        return text.replace("\1", "\1\2").replace("\0", "\1\1")
    return text


def from_text(kept: str) -> str:
    if "\1" in kept:
        return kept.replace("\1\1", "\0").replace("\1\2", "\1")
    return kept


def job_key(key: Key) -> tuple[str, int, int]:
    """Step, visit and iteration as they are kept."""
    return to_text(key.step), key.visit, NO_ITERATION if key.iteration is None else key.iteration


def job_ref(run: int, step: str, *, visit: int, iteration: int) -> JobRef:
    number = None if iteration == NO_ITERATION else iteration
    return JobRef(RunId(run), Key(from_text(step), visit, number))


def _array(element: int, values: Sequence[bytes | None]) -> bytes:
    """One dimension, counted from 1, in PostgreSQL's binary form."""
    if not values:
        return pack(">iii", 0, 0, element)
    parts = [pack(">iiiii", 1, 1 if None in values else 0, element, len(values), 1)]
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            parts += (_length(len(value)), value)
    return b"".join(parts)
