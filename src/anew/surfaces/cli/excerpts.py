"""The line of a document that a finding is about, with a caret under the column.

Documents may be hostile: nothing here lets a control character through to the terminal, and one
long line does not fill the screen.
"""

from __future__ import annotations

import re

from anew.views.visible import visible
from anew.views.widths import wide

__all__ = ["document_lines", "excerpt", "visible"]

# YAML counts lines by these, which is more than Python's own reading of files does.
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

# Longer lines are cut around the column; with the line number this still fits 100 columns.
EXCERPT_CHARACTERS_MAX = 88


def document_lines(document: bytes) -> list[str]:
    """The lines as findings count them; bytes that are not UTF-8 become replacement marks."""
    return _LINE_END.split(document.decode("utf-8-sig", errors="replace"))


def excerpt(lines: list[str], line: int, column: int) -> list[str]:
    """The source line and the caret line, or nothing when the document has no such line."""
    if not 1 <= line <= len(lines):
        return []
    source, caret_at = _window(lines[line - 1], column - 1)
    number = str(line)
    gap = " " * wide(source[:caret_at])
    return [f" {number} | {source}".rstrip(), f" {' ' * len(number)} | {gap}^"]


def _window(source: str, caret_at: int) -> tuple[str, int]:
    """At most the allowed characters of a line, and where in them the caret belongs."""
    caret_at = max(0, min(caret_at, len(source)))
    # The caret keeps about two thirds of the room before it, where the key of a value stands.
    start = max(0, caret_at - EXCERPT_CHARACTERS_MAX * 2 // 3)
    if len(source) <= EXCERPT_CHARACTERS_MAX:
        start = 0
    end = start + EXCERPT_CHARACTERS_MAX
    before = "…" if start else ""
    after = "…" if end < len(source) else ""
    return before + visible(source[start:end]) + after, caret_at - start + len(before)
