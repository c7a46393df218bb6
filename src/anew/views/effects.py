"""What a call does to the world, as far as its kind and its inputs tell.

Reading changes nothing and is left out. Of code, commands and agents nobody can tell, so they are
always named. Knows the inputs of `program/kinds.py`, and no tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from anew.values import Object, Value, json_text
from anew.views.wording import one_line

WHAT_CHARACTERS_MAX = 80
_HARMLESS = frozenset({"noop", "relay", "sleep", "secrets", "wait", "workbook"})
_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# What looks like a comment inside a text is none, and the other way round: whichever begins first.
_NO_CODE = re.compile(
    r"""
    \b[eE]'(?:\\.|''|[^'\\])*' | '(?:''|[^'])*' | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    | --[^\n]* | /\*.*?\*/
    | (?P<name> "(?:""|[^"])*" | `[^`]*` | \[[\w\s-]*\] )
    """,
    re.DOTALL | re.VERBOSE,
)
_SIGN = re.compile(r"\W")
# Quotes that never end make looking slow; more than this is told without having been looked at.
_SQL_CHARACTERS_MAX = 10_000
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


def effect_of(kind: str, inputs: Value, runs: Iterable[str]) -> CallEffect | None:
    """What making a call of one of `runs` once more does again; None when that changes nothing."""
    if kind in _HARMLESS:
        return None
    given: Object = inputs if isinstance(inputs, dict) else {}
    told = _TELLERS.get(kind, _unknown)(given)
    if told is None:
        return None
    return CallEffect(one_line(told, characters_max=WHAT_CHARACTERS_MAX), _key(given, runs))


def _key(inputs: Object, runs: Iterable[str]) -> CallKey:
    """A key that Anew makes is made of the run; one of the document may be made of it too."""
    key = inputs.get("idempotency_key")
    if key is None or key is False or key == "":
        return CallKey.NONE
    is_of_run = key is True or (isinstance(key, str) and any(run in key for run in runs))
    return CallKey.NEW if is_of_run else CallKey.OWN


def _http(inputs: Object) -> str | None:
    method = str(inputs.get("method") or "GET").strip().upper()
    return None if method in _READING_METHODS else f"{method} {_text(inputs.get('url'))}"


def _sql(inputs: Object) -> str | None:
    said = inputs.get("command")
    texts = said if isinstance(said, list) else [said]
    for text in [str(one or "") for one in texts]:
        if len(text) > _SQL_CHARACTERS_MAX:
            return text
        for statement, code in _statements(text):
            if code.strip() and not _is_reading(code):
                return statement.strip()
    return None


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """Each statement as it is written, and the code in it alone."""
    begin = 0
    for code in _NO_CODE.sub(_blank, text).split(";"):
        end = begin + len(code)
        yield text[begin:end], code
        begin = end + 1


def _blank(found: re.Match[str]) -> str:
    """As many spaces; of a quoted name its words stay, for it may be that of a function."""
    return " " * len(found[0]) if found["name"] is None else _SIGN.sub(" ", found[0])


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
