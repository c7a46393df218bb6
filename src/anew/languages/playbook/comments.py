"""Where the comments of a document stand, and which of them have been taken over.

Knows text and offsets only. Who takes a comment, and where it goes, is decided by the emitter.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from msgspec import Struct, field

from anew.languages.lines import line_end, line_starts
from anew.languages.nodes import Entry, Item, ListNode, Node, ScalarNode
from anew.program.span import Span

_BEFORE_COMMENT = re.compile(r":?[ \t]+(?=#)")


class CommentedText(Struct):
    """The text of a document and its comments: where each starts and ends, in file order."""

    text: str
    comments: dict[int, int]
    used: set[int] = field(default_factory=set)
    _starts: list[int] = field(default_factory=list)
    _line_starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = sorted(self.comments)
        self._line_starts = line_starts(self.text)

    def offset(self, place: Span) -> int:
        """Where a place stands in the text."""
        return self._line_starts[place.line - 1] + place.column - 1

    def line_start(self, offset: int) -> int:
        return self._line_starts[bisect_right(self._line_starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        return line_end(self.text, offset)

    def column(self, offset: int) -> int:
        return offset - self.line_start(offset)

    def between(self, start: int, end: int) -> list[int]:
        """Where the comments between two offsets start."""
        return self._starts[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def take(self, start: int, end: int) -> list[str]:
        """Unused comments between two offsets, which then count as used."""
        found = [at for at in self.between(start, end) if at not in self.used]
        self.used.update(found)
        return [self.text[at : self.comments[at]].rstrip() for at in found]

    def above(self, offset: int) -> list[str]:
        """The comments in the lines directly above the one of an offset."""
        start = self.line_start(offset)
        first = start
        while first > 0:
            before = self.line_start(first - 1)
            line = self.text[before : first - 1]
            if not line.strip().startswith("#"):
                break
            first = before
        return self.take(first, start)

    def beside(self, entry: Entry) -> list[str]:
        """The comment that directly follows a key, or a value that stands on one line with it."""
        ends = [entry.name.end]
        if isinstance(entry.node, ScalarNode) or entry.node.is_flow or entry.alias_end is not None:
            ends.append(held_end(entry))
        found = [_BEFORE_COMMENT.match(self.text, end) for end in ends]
        return [
            comment
            for match in found
            if match is not None
            for comment in self.take(match.end(), match.end() + 1)
        ]

    def end_of(self, node: Node, *, with_comment: bool = True) -> int:
        """Where the text of a node ends, with a comment that follows on its last line."""
        end = content_end(node)
        while end > node.begin and self.text[end - 1] in " \n\r":
            end -= 1
        rest = self.text[end : self.line_end(end)]
        if with_comment and re.fullmatch(r"\s+#.*", rest.rstrip("\r")):
            end += len(rest.rstrip())
        return end

    def without(self, start: int, end: int, dropped: set[int]) -> str:
        """The text between two offsets without some of its comments."""
        pieces, position = [], start
        for at in self.between(start, end):
            if at not in dropped:
                continue
            before = self.text[position:at].rstrip(" \t")
            # A line that held nothing else goes as a whole.
            pieces.append(before.removesuffix("\n").removesuffix("\r"))
            position = min(self.comments[at], end)
        return "".join([*pieces, self.text[position:end]])


def content_end(node: Node) -> int:
    """Where the last thing in a node ends; a block itself ends only where the next one starts."""
    if isinstance(node, ScalarNode) or node.is_flow:
        return node.end
    if isinstance(node, ListNode):
        return max((held_end(item) for item in node.items), default=node.end)
    return max((held_end(entry) for entry in node), default=node.end)


def held_end(holder: Entry | Item) -> int:
    """Where what a key or dash holds ends in the text, an alias being its own text."""
    return content_end(holder.node) if holder.alias_end is None else holder.alias_end


def _text_begin(text: str, node: ScalarNode) -> int:
    """Where a scalar's own text begins: below the line of `|` or `>`, which may hold a comment."""
    return line_end(text, node.begin) if node.style in ("|", ">") else node.begin


def find_comments(text: str, nodes: Iterable[ScalarNode]) -> dict[int, int]:
    """Every comment of a document: a `#` after white space that no scalar contains."""
    inside = sorted((_text_begin(text, node), node.end) for node in nodes)
    found: dict[int, int] = {}
    position = 0
    for begin, end in [*inside, (len(text), len(text))]:
        gap_start = position
        while gap_start < begin:
            at = text.find("#", gap_start, begin)
            if at < 0:
                break
            end_of_line = line_end(text, at)
            if at == 0 or text[at - 1].isspace():
                found[at] = end_of_line
            gap_start = end_of_line
        position = max(position, end)
    return found
