"""Event rows as text: one line each, in whatever words the rows use."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from anew.values import Object, Value

# Said in the first columns of the line, or taken apart.
_PLACED = frozenset({"seq", "at", "name", "step", "data"})
# The words of graphs have other names for the same columns.
_SAME = {"timestamp": "at", "type": "name", "node_id": "step"}
_UNSAID = frozenset({"run_id"})

VALUE_CHARACTERS_MAX = 60


def row_lines(rows: Sequence[Object], start: str) -> Iterator[str]:
    """Seconds since `start`, its number, where, what, then every other field that has a value."""
    began = datetime.fromisoformat(start)
    rows = [_in_columns(row) for row in rows]
    seq_width = max((len(_seq(row)) for row in rows), default=0)
    step_width = max((len(_step(row)) for row in rows), default=0)
    name_width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        seconds = (datetime.fromisoformat(row["at"]) - began).total_seconds()
        place = f"{_seq(row):>{seq_width}}{_step(row):<{step_width}}  {row['name']:<{name_width}}"
        yield f"{seconds:9.3f}  {place}  {_fields(row)}".rstrip()


def _in_columns(row: Object) -> Object:
    return {_SAME.get(key, key): value for key, value in row.items() if key not in _UNSAID}


def _seq(row: Object) -> str:
    """The number that `--at` and `--after` take, where the row has one."""
    return f"{row['seq']}  " if "seq" in row else ""


def _step(row: Object) -> str:
    return row["step"] or "run"


def _fields(row: Object) -> str:
    shown = {key: value for key, value in row.items() if key not in _PLACED}
    shown.update(row.get("data") or {})
    return " ".join(f"{key}={_short(value)}" for key, value in shown.items() if value is not None)


def _short(value: Value) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= VALUE_CHARACTERS_MAX:
        return text
    return text[: VALUE_CHARACTERS_MAX - 1] + "…"
