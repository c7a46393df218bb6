"""Give what code returned as JSON: a form for each type that has an obvious one, no other.

Types of libraries are recognised by name, so that none of them has to be imported.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from math import isinf, isnan
from typing import Any

# As deep as a value in the log may be.
_DEPTH = 200

# Of the path an error names.
_PATH_CHARS = 200
_EXACT = frozenset({str, int, bool, type(None)})


class NotPlain(Exception):
    """A value has no JSON form; the text says which and where."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self._path: list[str] = []

    def inside(self, part: str) -> NotPlain:
        self._path.append(part)
        return self

    def __str__(self) -> str:
        path = "".join(reversed(self._path))
        shown = path if len(path) <= _PATH_CHARS else f"{path[:_PATH_CHARS]}…"
        return f"the result{shown} {self.what}"


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as dicts, lists, texts, numbers, booleans and None; NotPlain when it is none."""
    kind = type(value)
    if kind in _EXACT and (kind is not str or value.isascii()):
        return value
    if depth > _DEPTH:
        raise NotPlain(f"is nested deeper than {_DEPTH} levels, or contains itself")
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, list | tuple):
        return _list(value, depth)
    return _other(value, depth)


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in value.items():
        name = key if type(key) is str and key.isascii() else _name(key)
        if name in made:
            raise NotPlain(f"has two keys that are {name!r} as text")
        try:
            made[name] = plain(item, depth + 1)
        except NotPlain as problem:
            raise problem.inside(f".{name}") from None
    return made


def _list(value: Iterable[Any], depth: int) -> list[Any]:
    made: list[Any] = []
    for item in value:
        try:
            made.append(plain(item, depth + 1))
        except NotPlain as problem:
            raise problem.inside(f"[{len(made)}]") from None
    return made


def _name(key: Any) -> str:
    try:
        form = None if isinstance(key, tuple | frozenset) else _other(key, 0)
    except NotPlain as problem:
        raise NotPlain(f"has a key that {problem.what}") from None
    if isinstance(form, str):
        return form
    if (form is None and key is not None) or isinstance(form, list | dict):
        raise NotPlain(f"has a key of type {type(key).__name__}, which has no text form")
    return json.dumps(form)


def _other(value: Any, depth: int) -> Any:
    for ancestor in type(value).__mro__:
        form = _FORMS.get(f"{ancestor.__module__}.{ancestor.__qualname__}")
        if form is not None:
            return form(value, depth)
    for mark, convert in _MARKS.items():
        if hasattr(value, mark) and not isinstance(value, type):
            return plain(convert(value), depth + 1)
    raise NotPlain(f"is of the type {type(value).__name__}, which has no JSON form")


def _text(value: str, _: int) -> str:
    text = str.__str__(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotPlain("has half of a surrogate pair, which is not text") from None
    return text


def _number(value: float, _: int) -> float:
    number = float(value)
    if isnan(number):
        raise _absent("NaN")
    if isinf(number):
        raise NotPlain("is infinite, which no JSON number is")
    return number


def _absent(name: str) -> NotPlain:
    """For libraries' words for no value: a null that nobody wrote would hide where it came from."""
    return NotPlain(f"is {name}, which JSON does not have: return None in its place")


def _decimal(value: Any, _: int) -> int | float | str:
    """A number when one holds every digit: money must not lose its cents."""
    if value.is_nan():
        raise _absent("NaN")
    if value.is_infinite():
        raise NotPlain("is infinite, which no JSON number is")
    if value == value.to_integral_value():
        return int(value)
    number = float(value)
    return number if type(value)(repr(number)) == value else format(value, "f")


def _moment(value: Any, _: int) -> str:
    if value != value:  # noqa: PLR0124 - pandas' NaT is a datetime that differs from itself
        raise _absent("NaT")
    if value.tzinfo is None:
        return str(value.isoformat())
    # Loaded already, or there would be no such value.
    from datetime import UTC  # noqa: PLC0415

    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"


def _iso(value: Any, _: int) -> str:
    return str(value.isoformat())


def _sorted(value: Any, depth: int) -> list[Any]:
    """Sets have an order of their own in every process; the same result should look the same."""
    try:
        return _list(sorted(value), depth)
    except TypeError:
        return _list(value, depth)


def _base64(value: bytes, _: int) -> str:
    return b64encode(value).decode()


def _as_text(value: Any, _: int) -> str:
    return str(value)


def _fields(names: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {name: getattr(value, name) for name in names(value)}


_FORMS: dict[str, Callable[[Any, int], Any]] = {
    # Members of an enumeration may be texts or numbers as well: the nearest ancestor decides.
    "enum.Enum": lambda value, depth: plain(value.value, depth),
    "builtins.str": _text,
    "builtins.bool": lambda value, _: value,
    "builtins.int": lambda value, _: int(value),
    "builtins.float": _number,
    "builtins.NoneType": lambda value, _: value,
    "builtins.set": _sorted,
    "builtins.frozenset": _sorted,
    "builtins.range": _list,
    "builtins.dict_keys": _list,
    "builtins.dict_values": _list,
    "builtins.dict_items": _list,
    "collections.deque": _list,
    "builtins.bytes": _base64,
    "builtins.bytearray": _base64,
    "datetime.datetime": _moment,
    "datetime.date": _iso,
    "datetime.time": _iso,
    "datetime.timedelta": lambda value, _: value.total_seconds(),
    "decimal.Decimal": _decimal,
    "fractions.Fraction": _as_text,
    "uuid.UUID": _as_text,
}

# An attribute that tells what a value is, and the simpler value it stands for.
_MARKS: dict[str, Callable[[Any], Any]] = {
    "__dataclass_fields__": _fields(lambda value: value.__dataclass_fields__),
    "__struct_fields__": _fields(lambda value: value.__struct_fields__),
    "__attrs_attrs__": _fields(lambda value: [each.name for each in value.__attrs_attrs__]),
    "__fspath__": os.fspath,
    "model_dump": lambda value: value.model_dump(),  # pydantic
    "to_dicts": lambda value: value.to_dicts(),  # polars
    "iterrows": lambda value: value.to_dict(orient="records"),  # pandas
    "tolist": lambda value: value.tolist(),  # numpy, and columns of pandas
}
