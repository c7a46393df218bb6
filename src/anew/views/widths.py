"""How wide a text is where every character takes one column, or two."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def wide(text: str) -> int:
    """The columns a visible text takes."""
    if text.isascii():
        return len(text)
    return sum(map(character_columns, text))


def character_columns(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
