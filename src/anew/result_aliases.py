"""Other names by which parts of results are read, in templates and in Python code alike.

An HTTP result is read by `body`, an SQL result by `command_<i>`, that of a loop by `stats`. A log
never holds them. The processes of Python tasks import this: it needs the standard library only.
"""

from __future__ import annotations

from typing import Any, Final

# What tells a result from any other mapping: the keys that all of its kind have.
HTTP_MARK: Final = "status_code"
SQL_MARK: Final = "row_count"
LOOP_MARK: Final = "results"
# Templates have a value of their own for what is missing, and null is a value.
MISSING: Final = object()

_COMMAND = "command_"
_HTTP_KEYS = frozenset({HTTP_MARK, "headers", "url", "elapsed", "data"})
_NUMBER_DIGITS_MAX = 9


def alias_in(result: dict[str, Any], key: str) -> Any:
    """What `result[key]` reads where the mapping has no such key, or MISSING."""
    if key == "body":
        return result.get("data", MISSING) if HTTP_MARK in result else MISSING
    if key == "stats":
        return _stats(result)
    if key.startswith(_COMMAND):
        return _command(result, key[len(_COMMAND) :])
    return MISSING


def body_field(result: dict[str, Any], key: str) -> Any:
    """What `key` reads in the JSON object that an HTTP response brought, or MISSING."""
    if HTTP_MARK not in result or not result.keys() <= _HTTP_KEYS:
        return MISSING
    data = result.get("data")
    return data.get(key, MISSING) if type(data) is dict else MISSING


def may_have_aliases(result: dict[str, Any]) -> bool:
    """Whether a mapping is a result that is read by other names as well."""
    if HTTP_MARK in result:
        return "data" in result
    return _is_sql(result) or _is_loop(result)


def _command(result: dict[str, Any], number: str) -> Any:
    """Statements count from 0; the only one there is has the whole result."""
    if not _is_sql(result) or not number.isdecimal() or len(number) > _NUMBER_DIGITS_MAX:
        return MISSING
    commands = result.get("commands")
    if not isinstance(commands, list):
        return result if int(number) == 0 else MISSING
    return commands[int(number)] if int(number) < len(commands) else MISSING


def _stats(result: dict[str, Any]) -> Any:
    if not _is_loop(result):
        return MISSING
    return {"total": result["total"], "success": result["done"], "failed": result["failed"]}


def _is_sql(result: dict[str, Any]) -> bool:
    return SQL_MARK in result and "rows" in result and "columns" in result


def _is_loop(result: dict[str, Any]) -> bool:
    return LOOP_MARK in result and "total" in result and "done" in result and "failed" in result
