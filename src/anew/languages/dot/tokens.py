"""Cut the text of a DOT document into tokens, in one pass and in linear time.

Knows where a value may stand (behind `=`), because bare values allow more than ids do. Knows no
statements.
"""

from __future__ import annotations

import re

from msgspec import Struct

from anew.languages.dot.dot_rules import parse_finding
from anew.languages.dot.source import SourceText
from anew.program.findings import Finding

# Kinds of tokens; punctuation is its own kind.
WORD, NUMBER, TEXT, VALUE, END = "word", "number", "text", "value", "end"
HTML, URL, BAD = "html", "url", "bad"
IDS = frozenset({WORD, NUMBER, TEXT})
VALUES = frozenset({VALUE, TEXT})
# Bare words that are no ids, in any case.
KEYWORDS = frozenset({"graph", "digraph", "node", "edge", "subgraph", "strict"})

_BLANK = r"(?:\s++|//[^\n\r]*+|/\*(?s:.*?)\*/|(?:(?<=[\n\r])|\A)\#[^\n\r]*+)*+"
# A word with a dot is a key, one with a hyphen a mistake that is easier to explain as a whole.
_ANY = r"""
    (?P<word>[^\W\d]\w*+(?:\.\w++)*+(?:-(?![->])[\w.]++)*+)
    | (?P<mark>->|--|[{}\[\]=,;:])
    | (?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+")
    | (?P<number>[+-]?(?:\d++(?:\.\d*+)?|\.\d++)\w*+)
    | (?P<html><)
    | (?P<bad>[^\s\w"{}\[\]=,;:</]++|.)
"""
# A bare URL must not end at the comment it seems to contain.
_BARE = r"""
    (?P<url>\w++://[^\s\],;]*+)
    | (?P<value>[+-]?\.?\w++(?:\.|-(?!>)|:(?=\w)|\w)*+)
"""
_FLAGS = re.VERBOSE | re.DOTALL
_TOKEN = re.compile(f"{_BLANK}(?:{_ANY})", _FLAGS)
_VALUE = re.compile(f"{_BLANK}(?:{_BARE}|{_ANY})", _FLAGS)
_ANGLE = re.compile(r"[<>]")
# Inside a text that spans lines: what looks like DOT that was meant to stand outside.
_SWALLOWED = re.compile(r"[\n\r][^\S\n\r]*+[^\W\d][\w.]*+\s*+(?:=|->|\[)")


class DotToken(Struct, frozen=True, gc=False):
    """`text` is what was written; for a quoted text without its quotes, escapes still in it."""

    kind: str
    text: str
    begin: int
    end: int


class Tokens(Struct):
    """`problem`: the text could be cut only up to the END token, and this is why."""

    items: list[DotToken]
    problem: Finding | None = None


def tokenize(source: SourceText) -> Tokens:
    text = source.text
    items: list[DotToken] = []
    is_angle_open = False
    found = _TOKEN.match(text)
    while found is not None:
        kind, end = found.lastgroup or BAD, found.end()
        written = found.group(kind)
        begin = end - len(written)
        if kind == "mark":
            kind = written
        elif kind == TEXT:
            written = written[1:-1]
        elif kind == HTML:
            close = None if is_angle_open else _html_end(text, begin)
            is_angle_open = close is None
            kind, end = (BAD, end) if close is None else (HTML, close)
        elif kind == BAD and written == '"':
            return _cut_at_quote(source, items, begin)
        elif kind == BAD and text.startswith("/*", begin):
            return _ended(items, begin, _open_comment(source, begin))
        items.append(DotToken(kind, written, begin, end))
        found = (_VALUE if kind == "=" else _TOKEN).match(text, end)
    return _ended(items, len(text))


def _ended(items: list[DotToken], at: int, problem: Finding | None = None) -> Tokens:
    # Twice, so that there is always a token behind the one that is looked at.
    items += [DotToken(END, "", at, at)] * 2
    return Tokens(items, problem)


def _html_end(text: str, at: int) -> int | None:
    depth = 0
    for angle in _ANGLE.finditer(text, at):
        depth += 1 if angle.group() == "<" else -1
        if depth == 0:
            return angle.end()
    return None


def _open_comment(source: SourceText, at: int) -> Finding:
    message = "the comment that starts here has no end"
    remedy = "Close it with `*/`."
    return parse_finding("dot.comment-unterminated", source.span(at), message, remedy)


def _cut_at_quote(source: SourceText, items: list[DotToken], at: int) -> Tokens:
    """A missing quote shows itself at the last one of the file: look for where it was forgotten."""
    suspect = next((n for n, token in enumerate(items) if _swallows(token)), None)
    if suspect is None:
        message, remedy = "the text that starts here has no closing quote", 'Close it with `"`.'
        begin = at
    else:
        begin = items[suspect].begin
        last = source.span(at).line
        message = "the text that starts here runs into the statements of the next lines"
        remedy = f'Close it with `"`: the quotes of the document do not pair up (line {last}).'
        items = items[:suspect]
    problem = parse_finding("dot.string-unterminated", source.span(begin), message, remedy)
    return _ended(items, begin, problem)


def _swallows(token: DotToken) -> bool:
    return token.kind == TEXT and _SWALLOWED.search(token.text) is not None
