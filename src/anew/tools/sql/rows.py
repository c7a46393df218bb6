"""The rows of a statement, collected batch by batch and never more than a result can hold.

Knows values of Python, not the database they came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anew.tools.sql.failure import passed_limit
from anew.tools.sql.values import json_value
from anew.values import Object, Value
from anew.weight import VALUE_CHARS_MAX

# A result is one value of the log: past this, a database is the better place for it.
SQL_ROWS_MAX = 100_000
# Rows asked of a database at a time: few enough that large ones are noticed in time.
SQL_BATCH_ROWS = 200

# What a number, null or truth value is taken to weigh.
_SMALL_CHARS = 8


class SqlRows:
    """What one statement gave. `affected` is the count of a statement that gives no rows."""

    def __init__(self, names: Sequence[str] = (), *, affected: int = 0) -> None:
        self.columns = unique_names(names)
        self.rows: list[Object] = []
        self._affected = affected
        self._names_chars = sum(map(len, self.columns))
        self.chars = 0

    def add(self, batch: Iterable[Sequence[object]]) -> None:
        """Keep these rows; raises `SqlFailure` of kind `limit_exceeded` when it is too much."""
        for row in batch:
            if len(self.rows) >= SQL_ROWS_MAX:
                raise passed_limit(
                    f"the statement gives more than {SQL_ROWS_MAX:,} rows (SQL_ROWS_MAX): "
                    "add LIMIT, aggregate, or keep the rows in a table"
                )
            values = [json_value(value) for value in row]
            self.chars += self._names_chars + _chars_of(values)
            if self.chars > VALUE_CHARS_MAX:
                raise passed_limit(
                    f"the rows are larger than {VALUE_CHARS_MAX:,} characters (VALUE_CHARS_MAX): "
                    "select fewer rows or columns, or keep them in a table"
                )
            self.rows.append(dict(zip(self.columns, values, strict=True)))

    def result(self) -> Object:
        return {
            "rows": self.rows,
            "row_count": len(self.rows) if self.columns else self._affected,
            "columns": self.columns,
        }


class StatementResults:
    """What the statements of one call gave, in their order."""

    def __init__(self) -> None:
        self._all: list[SqlRows] = []
        self._chars = 0

    def add(self, rows: SqlRows) -> None:
        """Keep them; raises `SqlFailure` of kind `limit_exceeded` when together it is too much."""
        # Those of the last one are in the result twice.
        if self._all and self._chars + 2 * rows.chars > VALUE_CHARS_MAX:
            raise passed_limit(
                f"the rows of {len(self._all) + 1} statements together are larger than "
                f"{VALUE_CHARS_MAX:,} characters (VALUE_CHARS_MAX): select fewer rows or columns, "
                "or make one call for each"
            )
        self._all.append(rows)
        self._chars += rows.chars

    def result(self) -> Object:
        """That of the last statement; where there are several, `commands` has all of them."""
        each = [rows.result() for rows in self._all]
        result = {**each[-1], "statements": len(each)}
        return {**result, "commands": each} if len(each) > 1 else result


def unique_names(names: Sequence[str]) -> list[str]:
    """Every name once: a second `id` is `id_2`, so that no column is lost in an object."""
    taken = set(names)
    seen: set[str] = set()
    unique = []
    for name in names:
        free, number = name, 2
        while free in seen or (free != name and free in taken):
            free, number = f"{name}_{number}", number + 1
        seen.add(free)
        unique.append(free)
    return unique


def _chars_of(values: Iterable[Value]) -> int:
    total = 0
    for value in values:
        if isinstance(value, str):
            total += len(value)
        elif isinstance(value, list):
            total += _chars_of(value)
        elif isinstance(value, dict):
            total += sum(map(len, value)) + _chars_of(value.values())
        total += _SMALL_CHARS
    return total
