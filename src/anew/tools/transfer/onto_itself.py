"""Refuse a transfer that reads what it writes: it would remove its own rows, or never end."""

from __future__ import annotations

import os
from pathlib import Path

from anew.program.transfer import TransferMode
from anew.tools.inputs import BadInput
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.statements import table_name

# Schemas that an unqualified name is usually found in.
_USUAL_SCHEMAS = ('"public".', '"main".')


def is_one_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to one file, by whatever names and links."""
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there
        return os.path.realpath(one) == os.path.realpath(other)


def refuse_own_file() -> None:
    raise BadInput("`source` and `target` are the same file: write to another file")


def empties_its_source(plan: TransferPlan) -> bool:
    """Whether `replace` empties a table of the source's name, in whichever database."""
    return (
        plan.mode is TransferMode.REPLACE
        and plan.source.kind.name == plan.target.kind.name
        and plan.source.text("table") is not None
        and _table(plan.source) == _table(plan.target)
    )


def refuse_own_table() -> None:
    raise BadInput(
        "`mode: replace` would empty the table that `source` reads: write to another table"
    )


def _table(side: Side) -> str:
    name = table_name(str(side.text("table")), folds=side.kind.folds_names)
    for schema in _USUAL_SCHEMAS:
        name = name.removeprefix(schema)
    # SQLite and DuckDB take a name in any case, PostgreSQL as it is quoted.
    return name if side.kind.folds_names else name.lower()
