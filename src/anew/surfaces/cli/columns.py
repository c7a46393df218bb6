"""How wide a text is on a terminal, and making it exactly as wide as a column.

Texts from outside are made visible first, so that what is measured is what is shown.
"""

from __future__ import annotations

import os
from typing import TextIO

from anew.views.visible import visible
from anew.views.widths import character_columns, wide

__all__ = ["can_show", "columns_of", "fit", "wide"]

COLUMNS_DEFAULT = 100
COLUMNS_MIN = 60
COLUMNS_MAX = 200


def columns_of(stream: TextIO) -> int:
    """How many columns to use: the terminal's, inside bounds; a fixed number elsewhere."""
    if not stream.isatty() and "COLUMNS" not in os.environ:
        return COLUMNS_DEFAULT
    import shutil  # slow to import, and only a terminal has a width

    width = shutil.get_terminal_size((COLUMNS_DEFAULT, 24)).columns
    # The last column stays free: some terminals wrap when it is written.
    return min(COLUMNS_MAX, max(COLUMNS_MIN, width - 1))


def can_show(stream: TextIO, characters: str) -> bool:
    """Whether the stream's encoding has all of these."""
    try:
        characters.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def fit(text: str, columns: int, *, pad: bool = True) -> str:
    """The text, made visible, in exactly so many columns: cut with `…` or filled with spaces."""
    shown = visible(text[: columns * 4 + 1])
    missing = columns - wide(shown)
    if missing >= 0:
        return shown + " " * missing if pad else shown
    kept, used = [], 0
    for character in shown:
        used += character_columns(character)
        if used > columns - 1:
            break
        kept.append(character)
    cut = "".join(kept) + "…"
    return cut + " " * (columns - wide(cut)) if pad else cut
