"""How values travel to PostgreSQL and back.

Every parameter goes without a type of its own, so that the server takes the one the statement
asks for: a statement is then prepared once, whatever is bound to it. Arrays are made here, in the
form that PostgreSQL keeps them in, and bound as bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct as Form
from struct import pack
from typing import Any

from psycopg import AsyncConnection
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

from anew.engine.state import StepRunKey
from anew.store import JobRef, RunId
from anew.stores.sql.dialect import NO_ITERATION

# The numbers PostgreSQL has for types of elements.
_BOOLEAN, _BYTES, _INTEGER, _TEXT, _JSON = 16, 17, 20, 25, 114
_NULL = pack(">i", -1)
_TRUE, _FALSE = b"\1", b"\0"
# How many dimensions, whether there is a NULL, of what; how many, and counted from where.
_HEAD_BYTES = 20
_sized_integer = Form(">iq")
integer = Form(">q").pack
_length = Form(">i").pack


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


_DUMPERS: tuple[tuple[type, type[Dumper]], ...] = (
    (int, _IntegerDumper),
    (bool, _BooleanDumper),
    (bytes, _BytesDumper),
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


def job_key(key: StepRunKey) -> tuple[str, int, int]:
    """Step, visit and iteration as they are kept."""
    return to_text(key.step), key.visit, NO_ITERATION if key.iteration is None else key.iteration


def job_ref(run: int, step: str, *, visit: int, iteration: int) -> JobRef:
    number = None if iteration == NO_ITERATION else iteration
    return JobRef(RunId(run), StepRunKey(from_text(step), visit, number))


def job_values(job: JobRef) -> tuple[bytes, bytes, bytes, bytes]:
    """Run, step, visit and iteration, to be bound as bytes."""
    step, visit, iteration = job_key(job.key)
    return integer(job.run), step.encode(), integer(visit), integer(iteration)


def text_array(texts: Iterable[str | None]) -> bytes:
    return _array(_TEXT, [None if one is None else one.encode() for one in texts])


def integer_array(numbers: Iterable[int | None]) -> bytes:
    return _array(_INTEGER, [None if one is None else integer(one) for one in numbers])


def boolean_array(truths: Iterable[bool]) -> bytes:
    return _array(_BOOLEAN, [_TRUE if one else _FALSE for one in truths])


def bytes_array(values: Iterable[bytes | None]) -> bytes:
    return _array(_BYTES, list(values))


def json_array(encoded: Iterable[bytes | None]) -> bytes:
    return _array(_JSON, list(encoded))


def integers_of(array: bytes) -> list[int]:
    """Of an array as PostgreSQL sends it, none of which is NULL."""
    return [number for _, number in _sized_integer.iter_unpack(array[_HEAD_BYTES:])]


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
