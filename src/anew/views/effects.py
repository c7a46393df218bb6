"""What a call does to the world, as far as its kind and its inputs tell.

Reading changes nothing and is left out. Of code, commands and agents nobody can tell, so they are
always named. What the calls of a kind do is in its row of `program/kinds.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from anew.program.kind import Kind
from anew.program.kinds import kind_named
from anew.values import Object, Value, as_text
from anew.views.wording import one_line

WHAT_CHARACTERS_MAX = 80
_INPUT = re.compile(r"\{(\w+)\}")
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
    given: Object = inputs if isinstance(inputs, dict) else {}
    told = _effect(kind_named(kind), given)
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


def _effect(kind: Kind, inputs: Object) -> str | None:
    """The line of the kind's row, with the inputs put in; of SQL the first statement that writes.

    Where no line has all of its inputs, the last one says so.
    """
    if not kind.effect or kind.only_reads(inputs):
        return None
    if kind.sql and inputs.get("script") is None:
        return next((text for name in kind.sql if (text := _written(inputs.get(name)))), None)
    lines = [line for line in kind.effect if all(inputs.get(name) for name in _INPUT.findall(line))]
    line = (*lines, kind.effect[-1])[0]
    text = _INPUT.sub(
        lambda found: _shown(inputs.get(found[1]), is_commands=found[1] in kind.shell), line
    )
    return f"{kind.method_of(inputs)} {text}" if kind.method else text


def _shown(value: Value, *, is_commands: bool) -> str:
    """A value that was logged; a secret is a reference there, and is shown as one."""
    if isinstance(value, list) and is_commands:
        return "; ".join(_shown(one, is_commands=False) for one in value)
    if isinstance(value, dict) and "uri" in value:  # of a script that is elsewhere
        return str(value["uri"])
    return as_text(value)


def _written(said: Value) -> str | None:
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
