"""What a transfer asks of its two sides, and how far it is.

A source gives batches, each with the position after it. A target writes a batch together with the
progress that it makes, so that both are there after a crash or neither is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.values import Value

# By column. Values are those of Python: each target writes them in its own way.
Row: TypeAlias = dict[str, object]


class Batch(Struct, frozen=True):
    """Rows that are written together, and where the source resumes after them."""

    rows: list[Row]
    position: Value


class Copied(Struct, frozen=True):
    """How far a transfer is. A position of None is the start."""

    position: Value = None
    rows: int = 0
    batches: int = 0
    is_done: bool = False

    def after(self, batch: Batch) -> Copied:
        return Copied(batch.position, self.rows + len(batch.rows), self.batches + 1)

    @property
    def at_end(self) -> Copied:
        return replace(self, is_done=True)


class TransferSource(Protocol):
    """Where rows come from. The same rows come in the same order each time."""

    def batches(self, position: Value, size: int) -> AsyncGenerator[Batch, None]: ...


class TransferTarget(Protocol):
    """Where rows go."""

    async def begin(self) -> Copied:
        """Connect. The progress of this transfer; a new one makes the target ready first."""

    async def write(self, rows: list[Row], before: Copied, after: Copied, /) -> None:
        """Write rows and progress, both or neither; refused when `before` is not true any more."""

    async def close(self) -> None: ...


class SideFailed(Exception):
    """A request of a side that gave an error outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def field_at(value: object, path: str) -> object:
    """What is at `a.b` inside a value; a key with dots in it is found first. None if absent."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    head, dot, rest = path.partition(".")
    if isinstance(value, list) and head.isdigit() and int(head) < len(value):
        inner: object = value[int(head)]
    elif isinstance(value, Mapping) and head in value:
        inner = value[head]
    else:
        return None
    return field_at(inner, rest) if dot else inner
