"""Values as text, as truth and as a weight, each within bounds.

An object may hold one list in many places, so that little memory would print as gigabytes:
everything here measures before it makes.
"""

from __future__ import annotations

import json

from anew.expressions.limits import BULK, TemplateLimits
from anew.expressions.problems import OperationError
from anew.expressions.sizes import size_of
from anew.expressions.undefined import UNDEFINED
from anew.values import Value, json_text

_FALSE_WORDS = frozenset({"", "false", "0", "no", "none", "null", "off"})
_TRUE_WORDS = frozenset({"true", "1", "yes"})
# What is a word of its own in a retry condition, though an expression would read a name.
_BARE_WORDS = _TRUE_WORDS | {"false", "0", "no"}
_WORD_CHARS_MAX = 16
_KINDS = {
    type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a text",
    list: "a list", dict: "an object",
}  # fmt: skip


def kind(value: Value) -> str:
    """What an error message calls a value."""
    if value is UNDEFINED:
        return "undefined"
    return _KINDS.get(type(value)) or ("a text" if isinstance(value, str) else "an unknown value")


def is_true(value: Value) -> bool:
    """Truth of a condition: Python's, but some words are false too."""
    if isinstance(value, str):
        return _as_word(value) not in _FALSE_WORDS
    return bool(value)


def is_true_word(value: Value, limits: TemplateLimits) -> bool:
    """Truth where only `true`, `1` and `yes` hold."""
    if value is True or value is False:
        return bool(value)
    return _as_word(to_text(value, limits)) in _TRUE_WORDS


def is_bare_word(text: str) -> bool:
    """Whether a condition in which only some words hold is one of them, or their opposite."""
    return _as_word(text) in _BARE_WORDS


def _as_word(text: str) -> str:
    """The text without the white space around it, in small letters; no long text is a word."""
    word = text.strip()
    return word if len(word) > _WORD_CHARS_MAX else word.lower()


def to_text(value: Value, limits: TemplateLimits) -> str:
    """`value` inside text: texts as they are, undefined empty, the rest in its JSON form."""
    if isinstance(value, str):
        return str(value)
    if type(value) is int:
        return str(value)
    if value is UNDEFINED:
        return ""
    return to_json(value, limits)


def to_json(value: Value, limits: TemplateLimits, *, indent: int | None = None) -> str:
    """The JSON form; `indent` breaks it into lines."""
    if isinstance(value, (list, dict)):
        _check_written(value, limits)
    text = json_text(value) if indent is None else _indented(value, indent, limits)
    check_chars(len(text), limits)
    return text


def _indented(value: Value, indent: int, limits: TemplateLimits) -> str:
    # Deep values grow by indentation alone, so this is cut off while it is written.
    pieces, size = [], 0
    for piece in json.JSONEncoder(ensure_ascii=False, indent=indent).iterencode(value):
        size += len(piece)
        check_chars(size, limits)
        pieces.append(piece)
    return "".join(pieces)


def check_chars(chars: int, limits: TemplateLimits) -> None:
    """Refuses text longer than the limit; ask before making it."""
    if chars > limits.text_chars_max:
        raise OperationError(
            f"a text of {chars} characters passes the limit of {limits.text_chars_max}"
        )


def check_items(items: int, limits: TemplateLimits) -> None:
    """Refuses a list longer than the limit; ask before making it."""
    if items > limits.items_max:
        raise OperationError(f"a list of {items} items passes the limit of {limits.items_max}")


def _check_written(value: list[Value] | dict[str, Value], limits: TemplateLimits) -> None:
    """Refuses what is longer than the limit as JSON, before any of it is made."""
    most = limits.text_chars_max
    size = size_of(value, parts_max=most)
    # The least that JSON needs: each part has brackets or a comma and a space around it.
    if size.chars + 2 * size.parts > most:
        raise OperationError(
            f"a value passes the limit of {most} characters when it is written as text"
        )


def weigh(value: list[Value] | dict[str, Value], limits: TemplateLimits) -> int:
    """Everything inside `value` counted as often as it would print, and the value itself."""
    size = size_of(value, parts_max=limits.items_max)
    weight = 1 + size.parts + size.chars // BULK
    if weight > limits.items_max:
        raise OperationError(f"a value holds more than {limits.items_max} items")
    return weight
