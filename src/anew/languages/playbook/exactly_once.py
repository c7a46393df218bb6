"""Read `exactly_once` of a task, and refuse it where its changes cannot be recorded with it."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, ScalarNode
from anew.languages.playbook.compilation import Compilation, shown
from anew.program.kind import Kind
from anew.program.kinds import KINDS

_RULE = "tool.exactly-once"


def read_exactly_once(
    c: Compilation, entry: Entry, kind: Kind | None, inputs: Mapping[str, Entry]
) -> bool:
    node = entry.node
    value = node.value if isinstance(node, ScalarNode) else None
    if not isinstance(value, bool):
        message = f"exactly_once is true or false; found {shown(node)}"
        c.report(_RULE, node.span, message, "Write `exactly_once: true`.")
        return False
    if value and kind is not None:
        _check(c, entry, kind, inputs)
    return value


def _check(c: Compilation, entry: Entry, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    if not kind.can_run_once:
        able = " and ".join(sorted(name for name, other in KINDS.items() if other.can_run_once))
        message = f"a task of kind {kind.name} cannot record its changes in their own transaction"
        remedy = f"Only {able} can; elsewhere give the other side the key `_key`."
        c.report(_RULE, entry.place, message, remedy)
    transaction = inputs.get("transaction")
    if transaction is not None and _is(transaction, value=False):
        message = "`transaction: false` commits each statement apart, so none is recorded with it"
        c.report(_RULE, transaction.place, message, "Remove `transaction: false`.")
    database = inputs.get("database")
    if database is not None and _is(database, value=":memory:"):
        message = "a database in memory is empty in every call, so nothing can be recorded there"
        c.report(_RULE, database.place, message, "Name a file, or remove `exactly_once`.")


def _is(entry: Entry, *, value: object) -> bool:
    return isinstance(entry.node, ScalarNode) and entry.node.value == value
