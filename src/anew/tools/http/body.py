"""What a request carries: its body in each of the forms authors write, and query parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from anew.tools.inputs import BadInput
from anew.values import Object, Value, as_text

_FORMS = ("json", "body", "payload", "data", "form")
_QUERY_METHODS = frozenset({"GET", "HEAD", "DELETE"})
_JSON_TYPE = "application/json"
_TEXT_TYPE = "text/plain; charset=utf-8"
_FORM_TYPE = "application/x-www-form-urlencoded"
_FORM_HEADER = re.compile(r"\s*application/x-www-form-urlencoded\s*(;|$)", re.I)
_MULTIPART_HEADER = re.compile(r"\s*multipart/", re.I)


class Content(Struct, frozen=True):
    """The bytes to send with their type, and what goes into the query instead."""

    sent: bytes | None = None
    kind: str | None = None
    query: Value = None


def content_of(inputs: Mapping[str, Value], method: str, content_type: str | None) -> Content:
    """The content of the one body input given; null counts as not given.

    `content_type` is the header the author wrote: with that of a form, a mapping is sent as one.
    """
    given = [name for name in _FORMS if inputs.get(name) is not None]
    if len(given) > 1:
        raise BadInput(f"give one body, not {' and '.join(f'`{name}`' for name in given)}")
    if not given:
        return Content()
    name, value = given[0], inputs[given[0]]
    if name == "json":
        return _json(value)
    if name == "form":
        return _form(value)
    if name == "data":
        return _data(value, method, content_type)
    return _by_value(value, content_type)


def _data(value: Value, method: str, content_type: str | None) -> Content:
    """`{query: …, body: …}` says what goes where; else the method does."""
    if isinstance(value, Mapping) and value and value.keys() <= {"query", "body"}:
        body = value.get("body")
        content = Content() if body is None else _by_value(body, content_type)
        return Content(content.sent, content.kind, value.get("query"))
    if isinstance(value, Mapping) and method in _QUERY_METHODS:
        return Content(query=value)
    return _by_value(value, content_type)


def _by_value(value: Value, content_type: str | None) -> Content:
    if isinstance(value, str):
        return Content(_bytes(value), _TEXT_TYPE)
    if content_type is not None and isinstance(value, Mapping):
        if _FORM_HEADER.match(content_type):
            return _form(value)
        if _MULTIPART_HEADER.match(content_type):
            raise BadInput("multipart bodies cannot be built; send text that is one, or a `form`")
    return _json(value)


def _json(value: Value) -> Content:
    try:
        return Content(msgspec.json.encode(value), _JSON_TYPE)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise BadInput("the body cannot be written as JSON") from None


def _form(value: Value) -> Content:
    if isinstance(value, str):
        return Content(_bytes(value), _FORM_TYPE)
    if not isinstance(value, Mapping):
        raise BadInput("`form` must be a mapping")
    return Content(_encoded(value), _FORM_TYPE)


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadInput("the body has half of a surrogate pair in it") from None


def query_of(params: Value, name: str) -> bytes:
    """Parameters as they stand in an address. A text is taken as it is."""
    if params is None:
        return b""
    if isinstance(params, str):
        return _bytes(params.removeprefix("?"))
    if not isinstance(params, Mapping):
        raise BadInput(f"`{name}` must be a mapping")
    return _encoded(params)


def _encoded(values: Object | Mapping[str, Value]) -> bytes:
    try:
        return urlencode(list(_pairs(values))).encode("ascii")
    except UnicodeEncodeError:
        raise BadInput("a parameter has half of a surrogate pair in it") from None


def _pairs(values: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """A list repeats its key; null is left out; anything nested is written as JSON."""
    for name, value in values.items():
        for item in value if isinstance(value, list) else [value]:
            if item is not None:
                yield str(name), as_text(item)
