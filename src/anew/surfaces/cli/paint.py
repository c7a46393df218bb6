"""Colour, where someone can see it: on a terminal, unless NO_COLOR is set."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TextIO, TypeAlias

Paint: TypeAlias = Callable[[str, str], str]

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}


def paint_for(stream: TextIO) -> Paint:
    """A function of a colour and a text, which adds the colour if the stream shows colours."""
    return _coloured if _shows_colours(stream) else _plain


def _shows_colours(stream: TextIO) -> bool:
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream.isatty()


def _coloured(colour: str, text: str) -> str:
    return f"\x1b[{CODES[colour]}m{text}\x1b[0m"


def _plain(colour: str, text: str) -> str:  # noqa: ARG001
    return text
