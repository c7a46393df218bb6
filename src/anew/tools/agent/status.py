"""What an agent says about its own work: a JSON object, in a file or at the end of its text.

    {"outcome": "success", "preferred_label": "…", "suggested_next_ids": ["…"],
     "context_updates": {…}, "notes": "…", "failure_reason": "…"}

Knows the object's keys and how they become an outcome. Does not know where it was found.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from anew.engine.outcome import Advice
from anew.engine.verdicts import ErrorType, StatusWord, parse_status
from anew.program.policy import Verdict
from anew.values import Object, Value

AGENT_STATUS_BYTES_MAX = 1 << 20
# How many of the names that were left out a note has, and how much of each.
_NAMES_SHOWN = 10
_NAME_CHARACTERS = 60

# Any of these shows that an object in a text is meant as a status; `status` alone may be data.
_SIGNS = frozenset(
    "outcome preferred_label preferred_next_label suggested_next_ids context_updates".split()
)
# Names that the run itself writes, or the document: an agent's word for them would pass for theirs.
_RESERVED = ("_", "graph.")
_ERROR_KEYS = ("kind", "type", "retryable", "code", "retry_after")
_FENCE = "```"
# A fence whose next line begins an object.
_OPENING = re.compile(r"```(?:json)?[ \t]*\r?\n(?=[ \t]*\{)", re.IGNORECASE)
# How many of the last ones are tried as the beginning of a status.
_OPENINGS_TRIED = 20
# Of a file that is no status, in the message.
_QUOTE_BYTES = 80
_NOT_JSON = (msgspec.DecodeError, ValueError, RecursionError)


class BadStatus(Exception):
    """The object cannot be understood; the text goes on after "the agent's status"."""


class AgentStatus(Struct, frozen=True):
    """`error` is set exactly when the agent says that it failed."""

    advice: Advice
    error: Object | None = None
    notes: str | None = None


def agent_status(status: Mapping[str, Value]) -> AgentStatus:
    """What a status object amounts to; BadStatus when a key holds the wrong kind of value."""
    word = _text(status, "outcome") or _text(status, "status")
    heard = parse_status(word) if word else StatusWord(Verdict.SUCCESS)
    notes = _text(status, "notes")
    updates, refused = _updates(status.get("context_updates"))
    advice = Advice(
        verdict=heard.verdict,
        word=heard.word,
        label=_text(status, "preferred_label") or _text(status, "preferred_next_label"),
        suggested=_ids(status.get("suggested_next_ids")),
        updates=updates,
    )
    told = "\n".join(filter(None, (notes, _left_out(refused)))) or None
    if heard.verdict is not Verdict.FAILURE:
        return AgentStatus(advice, None, told)
    return AgentStatus(advice, _error(status, notes, wants_retry=heard.wants_retry), told)


def read_status(data: bytes) -> Object:
    """The object in a status file; BadStatus says where it goes wrong and how it begins."""
    try:
        found = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except _NOT_JSON as problem:
        raise BadStatus(f"is not JSON: {_why(problem, data)}") from None
    if not isinstance(found, dict):
        raise BadStatus("is not a JSON object")
    return found


def status_in(text: str) -> Object | None:
    """The status object that a text is, or ends with in a fenced block; None for any other text."""
    for candidate in _candidates(text.strip()):
        try:
            found = msgspec.json.decode(candidate.encode())
        except _NOT_JSON:
            continue
        return found if isinstance(found, dict) and _SIGNS & found.keys() else None
    return None


def _candidates(whole: str) -> Iterator[str]:
    """What may be a status: the fenced block at the end, shortest first, and the whole text."""
    if whole.endswith(_FENCE):
        last = whole[-AGENT_STATUS_BYTES_MAX:].rstrip("`")
        # The block's own texts may hold fences, so the last one need not be its beginning.
        starts = deque((found.end() for found in _OPENING.finditer(last)), maxlen=_OPENINGS_TRIED)
        yield from (last[start:] for start in reversed(starts))
    if whole.startswith("{") and len(whole) <= AGENT_STATUS_BYTES_MAX:
        yield whole


def _why(problem: Exception, data: bytes) -> str:
    if not data.strip():
        return "it is empty"
    begin = data[:_QUOTE_BYTES].decode(errors="replace")
    return f"{_place_of(problem, data)}; it starts with {begin!r}"


def _place_of(problem: Exception, data: bytes) -> str:
    """What is wrong, by line and column where that can be said."""
    try:
        json.loads(data)
    except json.JSONDecodeError as found:
        return f"{found.msg} (line {found.lineno}, column {found.colno})"
    except UnicodeDecodeError as found:
        return f"it is not UTF-8 (byte {found.start + 1:,})"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError:
        pass  # a number with too many digits, of which the decoder spoke as well
    return str(problem)


def _text(status: Mapping[str, Value], key: str) -> str | None:
    said = status.get(key)
    if said is None:
        return None
    if not isinstance(said, str):
        raise BadStatus(f"has a `{key}` that is not a text")
    return said.strip() or None


def _ids(given: Value) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise BadStatus("has `suggested_next_ids` that are not a list of texts")
    return list(given)


def _updates(given: Value) -> tuple[Object, list[str]]:
    """What an agent may write, and the names that it may not."""
    if given is None:
        return {}, []
    if not isinstance(given, Mapping):
        raise BadStatus("has `context_updates` that are not an object")
    refused = [name for name in given if name.startswith(_RESERVED)]
    return {name: value for name, value in given.items() if name not in refused}, refused


def _left_out(names: list[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(name[:_NAME_CHARACTERS] for name in names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f"context_updates of {shown}{more} were left out: these names are not an agent's"


def _error(status: Mapping[str, Value], notes: str | None, *, wants_retry: bool) -> Object:
    detail = status.get("error")
    told = detail if isinstance(detail, Mapping) else {}
    reason = _text(status, "failure_reason") or (detail if isinstance(detail, str) else None)
    asked = "the agent asked to be tried again"
    message = reason or told.get("message") or notes
    if not isinstance(message, str) or not message.strip():
        message = asked if wants_retry else "the agent said that it failed"
    error: Object = {"kind": "failed", "message": message}
    error.update((key, told[key]) for key in _ERROR_KEYS if told.get(key) is not None)
    _check(error)
    if "type" not in error and "kind" not in told:
        error["type"] = ErrorType.TRANSIENT.value if wants_retry else ErrorType.UNKNOWN.value
    return error


def _check(error: Object) -> None:
    if not isinstance(error.get("retryable", True), bool):
        raise BadStatus("has an `error.retryable` that is not true or false")
    for key in ("kind", "type"):
        if not isinstance(error.get(key, ""), str):
            raise BadStatus(f"has an `error.{key}` that is not a text")
