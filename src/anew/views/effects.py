"""What a call does to the world, as far as its kind and its inputs tell.

Reading changes nothing and is left out. Of code, commands and agents nobody can tell, so they are
always named. Knows the inputs of `program/kinds.py`, and no tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct

from anew.program.kinds import is_idempotent
from anew.values import Object, Value, json_text
from anew.views.wording import one_line

WHAT_CHARACTERS_MAX = 80
_HARMLESS = frozenset({"noop", "relay", "sleep", "secrets", "wait", "workbook"})
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_READING = re.compile(r"\s*(select|show|explain|values|describe|summarize|table)\b", re.IGNORECASE)
_WRITING = re.compile(
    r"\b(insert|update|delete|merge|replace|into|nextval|setval|copy|call|analyze)\b", re.IGNORECASE
)


class CallKey(StrEnum):
    """Which idempotency key the call has when another run makes it.

    `own` is what the document makes it of: the same key, while that is the same.
    """

    NONE = "none"
    OWN = "own"
    NEW = "new"


class CallEffect(Struct, frozen=True):
    """What one call does, and whether who is called can tell that it has been made before."""

    what: str
    key: CallKey = CallKey.NONE


def effect_of(kind: str, inputs: Value, run: str) -> CallEffect | None:
    """What making a call of `run` once more does again; None when that changes nothing."""
    if kind in _HARMLESS:
        return None
    given: Object = inputs if isinstance(inputs, dict) else {}
    told = _TELLERS.get(kind, _unknown)(given)
    if told is None:
        return None
    return CallEffect(one_line(told, characters_max=WHAT_CHARACTERS_MAX), _key(given, run))


def _key(inputs: Object, run: str) -> CallKey:
    """A key that Anew makes is made of the run; one of the document may be made of it too."""
    key = inputs.get("idempotency_key")
    if key is None or key is False or key == "":
        return CallKey.NONE
    is_of_run = key is True or (isinstance(key, str) and run in key)
    return CallKey.NEW if is_of_run else CallKey.OWN


def _http(inputs: Object) -> str | None:
    method = str(inputs.get("method") or "GET").strip().upper()
    return None if is_idempotent(method) else f"{method} {_text(inputs.get('url'))}"


def _sql(inputs: Object) -> str | None:
    said = inputs.get("command")
    texts = said if isinstance(said, list) else [said]
    for text in texts:
        for statement in _COMMENT.sub(" ", str(text or "")).split(";"):
            if statement.strip() and not _is_reading(statement):
                return statement
    return None


def _is_reading(statement: str) -> bool:
    begins = _READING.match(statement) or statement.lstrip().lower().startswith("with")
    return bool(begins) and not _WRITING.search(statement)


def _shell(inputs: Object) -> str:
    command = inputs.get("command")
    return "; ".join(map(_text, command)) if isinstance(command, list) else _text(command)


def _python(inputs: Object) -> str:
    return f"script {_text(inputs['script'])}" if inputs.get("script") else "code"


def _agent(inputs: Object) -> str:
    return f"asks an agent: {_text(inputs.get('prompt'))}"


def _child(inputs: Object) -> str:
    return f"starts a child run of {_text(inputs.get('path') or inputs.get('file'))}"


def _restart(inputs: Object) -> str:
    return f"begins the run anew at {_text(inputs.get('entry'))}"


def _human(inputs: Object) -> str:
    return f"asks a person: {_text(inputs.get('question'))}"


def _unknown(_: Object) -> str:
    return "a tool of which Anew cannot tell what it does"


def _text(value: Value) -> str:
    """A value that was logged; a secret is a reference there, and is told as one."""
    return value if isinstance(value, str) else json_text(value)


_TELLERS: Mapping[str, Callable[[Object], str | None]] = {
    "http": _http,
    "postgres": _sql,
    "duckdb": _sql,
    "sqlite": _sql,
    "shell": _shell,
    "python": _python,
    "agent": _agent,
    "playbook": _child,
    "restart": _restart,
    "human": _human,
}
