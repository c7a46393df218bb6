"""What a task asks of a database: the texts, the values to bind, one transaction or none.

Knows the inputs of `program/kinds.py`. Does not know any database's SQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from anew.files import make_scratch, refuse_strangers
from anew.tool import Call
from anew.tools.scripts import Scripts
from anew.tools.sql.failure import wrong_input
from anew.values import Object, Value

MEMORY = ":memory:"
_RETURNING = re.compile(r"\breturning\b", re.IGNORECASE)

Params: TypeAlias = Mapping[str, Value] | Sequence[Value] | None


class SqlRequest(Struct, frozen=True):
    """The SQL inputs of a call, checked. `once` is its key where its changes are made once."""

    texts: tuple[str, ...]
    params: Params
    is_transaction: bool
    once: str | None = None

    def needs_begin(self, *, is_alone: bool) -> bool:
        """Whether to open a transaction for the statements.

        A single statement is one by itself, and some (VACUUM, CREATE DATABASE) may not be in
        another. But rows that turn out to be too many must undo the change that returned them.
        """
        has_rows = any(_RETURNING.search(text) for text in self.texts)
        return self.is_transaction and (not is_alone or has_rows)


async def with_script(scripts: Scripts, call: Call) -> Mapping[str, Value]:
    """The inputs with the text of their script, rendered, as the command; raises ScriptFailure."""
    if call.inputs.get("script") is None:
        return call.inputs
    if call.inputs.get("command") is not None:
        raise wrong_input("a task has command or script, not both")
    return {**call.inputs, "command": await call.render(await scripts.read(call))}


def request_of(inputs: Mapping[str, Value], *, once: str | None = None) -> SqlRequest:
    """The inputs as a request; raises `SqlFailure` of kind `config` that names the wrong one."""
    is_transaction = inputs.get("transaction")
    if is_transaction is None:
        is_transaction = True
    if not isinstance(is_transaction, bool):
        raise wrong_input(f"transaction is true or false, not {is_transaction!r}")
    if once is not None and not is_transaction:
        raise wrong_input("exactly_once needs one transaction: remove `transaction: false`")
    texts = _texts_of(inputs.get("command"))
    return SqlRequest(texts, _params_of(inputs), is_transaction, once)


def _texts_of(command: Value) -> tuple[str, ...]:
    texts = [command] if isinstance(command, str) else command
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise wrong_input("command is SQL text or a list of SQL texts")
    if not any(text.strip() for text in texts):
        raise wrong_input("command holds no statement")
    return tuple(texts)


def _params_of(inputs: Mapping[str, Value]) -> Params:
    params: Value = inputs.get("params")
    if params is not None and not isinstance(params, (dict, list)):
        raise wrong_input(
            "params is a mapping of names to values or a list of values, "
            f"not {type(params).__name__}"
        )
    return params


def database_of(call: Call, default: str) -> str:
    """The file the call works on, or `:memory:`; `default` names the file of the run."""
    database = call.inputs.get("database")
    if is_file_of_run(call):
        return str(_file_of_run(call.scratch, default))
    if not isinstance(database, str) or not database:
        raise wrong_input("database is the path of a file, or :memory:")
    if database != MEMORY:
        return str(_existing_place(call.folder / database))
    if call.exactly_once:
        raise wrong_input("exactly_once needs a file: a database in memory is empty in every call")
    return MEMORY


def is_file_of_run(call: Call) -> bool:
    """Whether the call works on a file that its run has for itself."""
    return call.inputs.get("database") is None


def _file_of_run(scratch: Path, name: str) -> Path:
    """In a folder that only its user may enter, and nowhere else."""
    path = scratch / name
    try:
        make_scratch(scratch)
        refuse_strangers(str(path))
    except OSError as error:
        raise wrong_input(f"the file of the run cannot be made: {error}") from error
    return path


def _existing_place(path: Path) -> Path:
    if path.is_dir():
        raise wrong_input(f"database {str(path)!r} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise wrong_input(
            f"database {str(path)!r} cannot be opened: its folder does not exist. "
            "A relative path starts at the folder of the document."
        )
    return path


class Supply:
    """Gives each statement its values, and knows whether all of a list were used.

    Names may be used by any statement, any number of times. A list is dealt out in order: each
    statement takes as many as it has placeholders.
    """

    def __init__(self, params: Params) -> None:
        self._params = params
        self._dealt = 0

    def named(self, names: Sequence[str]) -> Object:
        """The values of `names`."""
        given = self._params if isinstance(self._params, Mapping) else None
        if given is None:
            raise wrong_input(
                f"the statement has the placeholder {names[0]!r}: params must be a mapping with it"
            )
        missing = sorted({name for name in names if name not in given})
        if missing:
            raise wrong_input(f"params has no value for the placeholder {', '.join(missing)}")
        return {name: given[name] for name in names}

    def next(self, count: int) -> list[Value]:
        """The next `count` values of the list."""
        if count and (self._params is None or isinstance(self._params, Mapping)):
            raise wrong_input(
                f"the statement has {count} placeholders without names: params must be a list"
            )
        values = list(self._params or ())[self._dealt : self._dealt + count] if count else []
        if len(values) < count:
            raise wrong_input(
                f"the statement has {count} placeholders, but params has {len(values)} values left"
            )
        self._dealt += count
        return values

    def finish(self) -> None:
        """Raise when values of a list were not asked for: one placeholder was forgotten."""
        if isinstance(self._params, Mapping) or self._params is None:
            return
        left = len(self._params) - self._dealt
        if left:
            raise wrong_input(
                f"params has {len(self._params)} values, the statements have {self._dealt} "
                "placeholders"
            )
