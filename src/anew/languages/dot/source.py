"""A document's text and the places in it.

Decides whether bytes are a readable document at all. Knows lines and quotes, no grammar, and
what lies beside the document.
"""

from __future__ import annotations

import re
from functools import cached_property

from anew.languages.dot.beside import Beside
from anew.languages.dot.dot_rules import parse_finding
from anew.languages.limits import document_bytes_max
from anew.languages.lines import line_starts, span_at
from anew.program.findings import Finding
from anew.program.span import Span

# Lines are counted as excerpts of documents count them.
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_ESCAPES = {'\\"': '"', "\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_ESCAPE = re.compile(r"\\.", re.DOTALL)


class SourceText:
    """A text whose offsets can be told as lines and columns."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        # Where there may be files it names, once it is known how they are found.
        self.beside: Beside | None = None

    @cached_property
    def line_starts(self) -> list[int]:
        return line_starts(self.text)

    def span(self, offset: int) -> Span:
        return span_at(self.line_starts, self.file, offset)

    def offset(self, place: Span) -> int:
        return self.line_starts[place.line - 1] + place.column - 1

    def inside(self, place: Span, index: int) -> Span:
        """Where the character `index` of a value stands, whose own place is `place`.

        Follows quotes and escapes, so that a caret can point into a quoted text.
        """
        return self.span(self.inside_all(place, index)[-1])

    def inside_all(self, place: Span, length: int) -> list[int]:
        """The offsets of the first `length` characters of the value at `place`, and of its end."""
        begin = self.offset(place)
        if self.text[begin : begin + 1] != '"':
            return list(range(begin, begin + length + 1))
        offsets = [begin + 1]
        while len(offsets) <= length:
            at = offsets[-1]
            # An unknown escape is two characters of the value.
            offsets.append(at + (2 if self.text[at : at + 2] in _ESCAPES else 1))
        return offsets


def unescaped(written: str) -> str:
    """The text between two quotes with its escapes replaced; unknown ones stay as they are."""
    if "\\" not in written:
        return written
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found.group(), found.group()), written)


def escaped(text: str) -> str:
    """The text as it must stand between quotes to be read as `text`."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def decode(document: str | bytes, file: str) -> SourceText | Finding:
    """The document's text, or why it has none."""
    start = Span(file, 1, 1)
    is_text = isinstance(document, str)
    data = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
    most = document_bytes_max()
    if len(data) > most:
        message = f"the document is larger than {most:,} bytes"
        return parse_finding(
            "dot.size", start, message, "Split it, or set ANEW_DOCUMENT_BYTES_MAX."
        )
    try:
        text = document if isinstance(document, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = SourceText(data[: error.start].decode("utf-8").removeprefix("\ufeff"), file)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        place = before.span(len(before.text))
        return parse_finding("dot.encoding", place, message, "Save the file as UTF-8.")
    source = SourceText(text.removeprefix("\ufeff"), file)
    bad = _NO_TEXT.search(source.text)
    if bad is None:
        return source
    message = f"the character U+{ord(bad.group()):04X} cannot occur in a document"
    remedy = "Remove it." if is_text else "Remove it, or save the file as UTF-8."
    return parse_finding("dot.encoding", source.span(bad.start()), message, remedy)
