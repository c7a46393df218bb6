"""The SQL of a transfer, for every database that can be a side.

Names are quoted, values have placeholders. Knows the few differences between dialects, and no
connection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from anew.program.transfer import TransferMode
from anew.tools.inputs import BadInput
from anew.values import Object, Value

PROGRESS_TABLE = "anew_transfers"
# A progress that nothing has changed for this long is forgotten by the next transfer.
TRANSFER_KEPT_SECONDS_MAX = 30 * 86400

_NAME_PART = re.compile(r'"(?:[^"]|"")+"|[^."]+')
# Texts, comments and quoted names: what is inside does not order anything.
_NO_CODE = re.compile(
    r"""'(?:''|[^'])*' | "(?:""|[^"])*" | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    | --[^\n]* | /\*.*?\*/""",
    re.DOTALL | re.VERBOSE,
)
_ORDERING = re.compile(r"[()]|\border\s+by\b", re.IGNORECASE)
_KEY_PARAM = "anew_key_"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def table_name(said: str, *, folds: bool) -> str:
    """A table's name, quoted part by part: `public.items`. Where names fold, in lower case."""
    parts = _NAME_PART.findall(said.strip())
    if not parts or ".".join(parts) != said.strip():
        raise BadInput(f"{said!r} is not the name of a table")
    return ".".join(_part(part, folds=folds) for part in parts)


def _part(part: str, *, folds: bool) -> str:
    if part.startswith('"'):
        return part
    return quoted(part.strip().lower() if folds else part.strip())


def beside(table: str, name: str) -> str:
    """The name of a table in the schema of another, whose name is quoted."""
    schema, dot, _ = table.rpartition('."')
    return f"{schema}.{quoted(name)}" if dot else quoted(name)


def is_ordered(query: str) -> bool:
    """Whether a query says itself in which order its rows come."""
    depth = 0
    found = False
    for mark in _ORDERING.findall(_NO_CODE.sub(" ", query)):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        found = found or (depth == 0 and mark not in "()")
    return found


class SourceQuery(Struct, frozen=True):
    """What a source is asked for: the rows after `last`, in one order, with their values."""

    text: str
    params: Mapping[str, Value] | Sequence[Value] | None


def source_query(
    base: str, params: Value, *, key: Sequence[str], last: Sequence[Value], mark: str, order: str
) -> SourceQuery:
    """The query of a source in a stable order.

    `last` is the key after which it resumes; `order` sorts by all columns, for queries that have
    no order of their own. `mark` begins the name of a bound value.
    """
    text = base.strip().rstrip(";").rstrip()
    if not key:
        ordered = text if is_ordered(text) else f"SELECT * FROM (\n{text}\n) AS source {order}"
        return SourceQuery(ordered, params)
    columns = ", ".join(map(quoted, key))
    after, bound = "", params
    if last:
        names = [f"{_KEY_PARAM}{number}" for number in range(len(key))]
        marks = ", ".join(f"{mark}{name}" for name in names)
        after = f" WHERE ({columns}) > ({marks})"
        bound = _with_names(params, dict(zip(names, last, strict=True)))
    return SourceQuery(f"SELECT * FROM (\n{text}\n) AS source{after} ORDER BY {columns}", bound)


def _with_names(params: Value, more: Object) -> Object:
    if params is None:
        return more
    if not isinstance(params, Mapping):
        raise BadInput("with `key`, `params` must be a mapping: name the values")
    return {**params, **more}


class ProgressTexts(Struct, frozen=True):
    """The statements on the table that keeps how far transfers are. All take values in order."""

    table: str
    is_numbered: bool  # `$1` instead of `?`

    def _marks(self, count: int, *, start: int = 1) -> list[str]:
        numbers = range(start, start + count)
        return [f"${number}" if self.is_numbered else "?" for number in numbers]

    @property
    def create(self) -> str:
        return (
            f"CREATE TABLE IF NOT EXISTS {self.table} (transfer text PRIMARY KEY, place text, "
            "row_count bigint NOT NULL, batch_count bigint NOT NULL, is_done integer NOT NULL, "
            "updated_at bigint NOT NULL)"
        )

    @property
    def read(self) -> str:
        return (
            f"SELECT place, row_count, batch_count, is_done FROM {self.table} "
            f"WHERE transfer = {self._marks(1)[0]}"
        )

    @property
    def add(self) -> str:
        """Values: transfer, now."""
        key, now = self._marks(2)
        return (
            f"INSERT INTO {self.table} (transfer, row_count, batch_count, is_done, updated_at) "
            f"VALUES ({key}, 0, 0, 0, {now}) ON CONFLICT DO NOTHING"
        )

    @property
    def advance(self) -> str:
        """Values: place, rows, batches, is_done, now; then transfer and the batches before."""
        place, rows, batches, done, now, key, before = self._marks(7)
        return (
            f"UPDATE {self.table} SET place = {place}, row_count = {rows}, "
            f"batch_count = {batches}, is_done = {done}, updated_at = {now} "
            f"WHERE transfer = {key} AND batch_count = {before} AND is_done = 0"
        )

    @property
    def forget(self) -> str:
        """Values: the moment before which."""
        return f"DELETE FROM {self.table} WHERE updated_at < {self._marks(1)[0]}"


def on_conflict(columns: Sequence[str], key: Sequence[str], mode: TransferMode) -> str:
    """What an insert does with a row that is there already."""
    if mode is not TransferMode.UPSERT:
        return ""
    others = [quoted(column) for column in columns if column not in key]
    found = ", ".join(map(quoted, key))
    if not others:
        return f" ON CONFLICT ({found}) DO NOTHING"
    sets = ", ".join(f"{column} = EXCLUDED.{column}" for column in others)
    return f" ON CONFLICT ({found}) DO UPDATE SET {sets}"


def require_key(rows: Sequence[Mapping[str, object]], key: Sequence[str]) -> None:
    """BadInput when a row has no value for a column of the key."""
    for row in rows:
        missing = [name for name in key if row.get(name) is None]
        if missing:
            raise BadInput(f"a row has no value for {missing[0]!r}, which is in `target.key`")


def last_by_key(rows: str, names: str, key: Sequence[str], *, number: str) -> str:
    """A query for one row of each key, the last: a statement cannot change the same row twice.

    The database compares: `1` and `"1"` are one key in a column of numbers. `number` says which
    row is later.
    """
    by = ", ".join(map(quoted, key))
    return f"SELECT DISTINCT ON ({by}) {names} FROM {rows} ORDER BY {by}, {number} DESC"


def columns_of(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The columns of all rows, in the order they are first met."""
    return list(dict.fromkeys(name for row in rows for name in row))
