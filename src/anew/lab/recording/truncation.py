"""Make large values small enough to read: long texts, lists and mappings keep their beginning.

Says of everything it cut where it was and how much is left. Knows nothing of what decides by them.
"""

from __future__ import annotations

from collections.abc import Callable

from anew.values import Object, Value

# What a person still reads in a scenario; the parts that rules look at are rarely longer.
CUT_TEXT_CHARS_MAX = 400
CUT_LIST_ITEMS_MAX = 20
CUT_MAPPING_KEYS_MAX = 60


def shortened(value: Value, note: Callable[[str], None], where: str = "") -> Value:
    """`value` cut down to what is read; the same object when nothing is too large."""
    match value:
        case str() if len(value) > CUT_TEXT_CHARS_MAX:
            note(f"{where}: {CUT_TEXT_CHARS_MAX:,} of {len(value):,} characters kept")
            return cut_text(value)
        case list():
            return _list(value, note, where)
        case dict():
            return _mapping(value, note, where)
        case _:
            return value


def cut_text(text: str) -> str:
    """The beginning of a text, and a mark when there was more."""
    return text if len(text) <= CUT_TEXT_CHARS_MAX else f"{text[:CUT_TEXT_CHARS_MAX]}…"


def _list(value: list[Value], note: Callable[[str], None], where: str) -> Value:
    kept = value
    if len(value) > CUT_LIST_ITEMS_MAX:
        note(f"{where}: {CUT_LIST_ITEMS_MAX} of {len(value):,} items kept")
        kept = value[:CUT_LIST_ITEMS_MAX]
    inner = [shortened(item, note, f"{where}[{number}]") for number, item in enumerate(kept)]
    is_same = kept is value and all(new is old for new, old in zip(inner, value, strict=True))
    return value if is_same else inner


def _mapping(value: Object, note: Callable[[str], None], where: str) -> Value:
    keys = list(value)
    if len(keys) > CUT_MAPPING_KEYS_MAX:
        note(f"{where}: {CUT_MAPPING_KEYS_MAX} of {len(keys):,} keys kept")
        keys = keys[:CUT_MAPPING_KEYS_MAX]
    before = f"{where}." if where else ""
    inner = {key: shortened(value[key], note, f"{before}{key}") for key in keys}
    is_same = len(keys) == len(value) and all(inner[key] is value[key] for key in keys)
    return value if is_same else inner
