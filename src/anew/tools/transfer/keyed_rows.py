"""Rows of a database source as batches, with the position after each: a key, or a count.

A key that is null, bytes or not unique is refused: a transfer that resumes there would lose rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.tools.inputs import BadInput
from anew.tools.sql.rows import unique_names
from anew.tools.sql.values import json_value
from anew.tools.transfer.plan import Side
from anew.tools.transfer.sides import Batch, Row
from anew.tools.transfer.statements import SourceQuery, source_query, table_name
from anew.values import Value

_KEY = "key"
_COUNT = "rows"


class KeyedRows:
    """Names the columns of rows and keeps the position of a source."""

    def __init__(self, side: Side, position: Value) -> None:
        known = position if isinstance(position, dict) else {}
        self._side = side
        self._key = side.names(_KEY)
        self._last: list[Value] = list(known.get(_KEY) or [])
        self.skipped: int = int(known.get(_COUNT) or 0)
        self._names: list[str] = []

    @property
    def base(self) -> str:
        """The author's query, or one for the table."""
        query = self._side.text("query")
        if query is not None:
            return query
        folds = self._side.kind.folds_names
        return f"SELECT * FROM {table_name(str(self._side.text('table')), folds=folds)}"

    def query(self, *, order: str) -> SourceQuery:
        """What the source is asked; `order` is how its dialect sorts by all columns."""
        side = self._side
        params = side.inputs.get("params")
        if params is not None and not isinstance(params, (dict, list)):
            raise BadInput("`params` is a mapping of names to values or a list of values")
        return source_query(
            self.base,
            params,
            key=self._key,
            last=self._last,
            mark=side.kind.sql_mark,
            order=order,
        )

    def name(self, columns: Sequence[str]) -> None:
        """The columns of the rows that follow."""
        self._names = unique_names(columns)
        missing = [name for name in self._key if name not in self._names]
        if missing:
            known = ", ".join(self._names)
            raise BadInput(f"`source.key` names {missing[0]!r}; the rows have {known}")

    def batch(self, found: Sequence[Sequence[object]]) -> Batch:
        rows: list[Row] = [dict(zip(self._names, row, strict=True)) for row in found]
        if not self._key:
            self.skipped += len(rows)
            return Batch(rows, {_COUNT: self.skipped})
        for row in rows:
            self._follow([row[name] for name in self._key])
        return Batch(rows, {_KEY: self._last})

    def _follow(self, found: list[object]) -> None:
        names = ", ".join(self._key)
        if any(isinstance(value, (bytes, bytearray, memoryview)) for value in found):
            # The position is JSON, where bytes are a text: no database compares the two.
            raise BadInput(
                f"`source.key` is bytes in a row ({names}): choose columns of another type"
            )
        key = [json_value(value) for value in found]
        if None in key:
            raise BadInput(f"`source.key` is null in a row ({names}): choose columns without null")
        if key == self._last:
            raise BadInput(f"two rows have the same `source.key` ({names} = {key}): add a column")
        self._last = key
