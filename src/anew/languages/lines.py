"""Where the lines of a text start and end, as the readers of YAML and of DOT count them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from anew.program.span import Span

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in LINE_BREAK.finditer(text))]


def line_end(text: str, offset: int) -> int:
    """The last character of the break that ends the line, or the end of the text."""
    found = LINE_BREAK.search(text, offset)
    return len(text) if found is None else found.end() - 1


def span_at(starts: Sequence[int], file: str, offset: int) -> Span:
    """The place of an offset, given where lines begin."""
    line = bisect_right(starts, offset)
    return Span(file, line, offset - starts[line - 1] + 1)
