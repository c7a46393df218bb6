"""Text of a user as a terminal may be shown it."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text with a mark for each character that would move the cursor or change the terminal."""
    return text if text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character == "\t":
        return " "
    return character if character.isprintable() else "�"
