"""Make the SQL statement of a save into a table.

Names of tables and columns are checked and quoted; values are parameters and never part of it.
"""

from __future__ import annotations

import re
from enum import StrEnum

from anew.languages.nodes import Entry, MapNode, ScalarNode
from anew.languages.playbook.compilation import Compilation, shown
from anew.program.kind import Kind

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# catalog.schema.table
_TABLE_PARTS_MAX = 3


class Mode(StrEnum):
    """What a save does with a row: add it, add or replace it, or change the one there is."""

    APPEND = "append"
    UPSERT = "upsert"
    UPDATE = "update"


def statement_for(
    c: Compilation,
    kind: Kind,
    *,
    table: Entry,
    columns: MapNode,
    mode: Mode,
    key: list[ScalarNode],
) -> str | None:
    """The statement, with a placeholder for each value; None when (reported) it cannot be made."""
    is_fine = _check_table(c, table) and _check_columns(c, columns)
    if not is_fine or not _check_key(c, table, columns=columns, mode=mode, key=key):
        return None
    assert isinstance(table.node, ScalarNode)
    into = ".".join(_quoted(kind, part) for part in table.node.text.split("."))
    mark = kind.sql_mark
    keys = {node.text for node in key}
    columns_of_row = {name: _quoted(kind, name) for name in columns.entries}
    keyed = {name: quoted for name, quoted in columns_of_row.items() if name in keys}
    if mode is Mode.UPDATE:
        others = {name: quoted for name, quoted in columns_of_row.items() if name not in keys}
        changes, found = _pairs(others, mark), _pairs(keyed, mark)
        return f"UPDATE {into} SET {', '.join(changes)} WHERE {' AND '.join(found)}"
    values = ", ".join(f"{mark}{name}" for name in columns_of_row)
    insert = f"INSERT INTO {into} ({', '.join(columns_of_row.values())}) VALUES ({values})"
    return insert if mode is Mode.APPEND else insert + _on_conflict(columns_of_row, keyed)


def _on_conflict(columns: dict[str, str], keyed: dict[str, str]) -> str:
    changes = [f"{q} = EXCLUDED.{q}" for name, q in columns.items() if name not in keyed]
    action = f"UPDATE SET {', '.join(changes)}" if changes else "NOTHING"
    return f" ON CONFLICT ({', '.join(keyed.values())}) DO {action}"


def _quoted(kind: Kind, name: str) -> str:
    # As the name was always read in these blocks, where it stood unquoted.
    return f'"{name.lower() if kind.folds_names else name}"'


def _pairs(names: dict[str, str], mark: str) -> list[str]:
    return [f"{name} = {mark}{column}" for column, name in names.items()]


def _check_table(c: Compilation, table: Entry) -> bool:
    text = table.node.text if isinstance(table.node, ScalarNode) else ""
    parts = text.split(".")
    if len(parts) <= _TABLE_PARTS_MAX and all(_NAME.fullmatch(part) for part in parts):
        return True
    message = f"`table` must be a name like `orders` or `public.orders`; found {shown(table.node)}"
    remedy = "Write the name itself; for any other table give a `statement` with `params`."
    c.report("save.table", table.node.span, message, remedy)
    return False


def _check_columns(c: Compilation, columns: MapNode) -> bool:
    wrong = [entry for entry in columns if not _NAME.fullmatch(entry.key)]
    for entry in wrong:
        message = f"{entry.key!r} is not a name that a column can have here"
        c.report("save.data", entry.place, message, "Use letters, digits and `_`.")
    return not wrong


def _check_key(
    c: Compilation, table: Entry, *, columns: MapNode, mode: Mode, key: list[ScalarNode]
) -> bool:
    if mode is Mode.APPEND:
        return True
    if not key:
        message = f"`mode: {mode}` needs `key`, the columns that identify a row"
        c.report("save.key", table.place, message, "Add `key: id`.")
        return False
    unknown = [node for node in key if node.text not in columns.entries]
    for node in unknown:
        message = f"the key {node.text!r} is not among the columns"
        c.report("save.key", node.span, message, c.suggestions.remedy(node.text, columns.entries))
    names = {node.text for node in key}
    if not unknown and mode is Mode.UPDATE and names >= columns.entries.keys():
        message = "`mode: update` has no column to change other than its key"
        c.report("save.key", key[0].span, message, "Add the columns to change to `data`.")
        return False
    return not unknown
