"""Decide what a plain YAML scalar means: JSON's types, and text for everything else.

`NO`, `on`, `12:30`, `0o7`, `007`, `1_000` and dates stay text, because a document must not mean
something else than what its author reads.
"""

from __future__ import annotations

import math
import re
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None

# Python refuses to convert longer digit strings, and no workflow means a number by them.
_INT_DIGITS_MAX = 4000
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII
)
_WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_CORE = "tag:yaml.org,2002:"
SCALAR_TAGS = frozenset(_CORE + name for name in ("str", "int", "float", "bool", "null"))
MAP_TAG = _CORE + "map"
LIST_TAG = _CORE + "seq"
_TYPES: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "null": type(None)}


def resolve(text: str) -> Scalar:
    """The value of a plain (unquoted, untagged) scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INT.fullmatch(text):
        return int(text) if len(text) <= _INT_DIGITS_MAX else text
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def resolve_tagged(text: str, tag: str) -> tuple[Scalar, bool]:
    """The value under an explicit core tag, and whether the text fits the tag."""
    name = tag.removeprefix(_CORE)
    if name == "str":
        return text, True
    value = resolve(text)
    if name == "float" and type(value) is int:
        return float(value), True
    return value, type(value) is _TYPES[name]
