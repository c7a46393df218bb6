"""Read SQL text as PostgreSQL does: words, quotes, dollar quotes, nested comments, placeholders.

Does not check SQL: a quote left open reaches to the end of the text, and the server complains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class SqlTokenKind(Enum):
    """What a piece of SQL text is, as far as cutting and binding need to know."""

    TEXT = "text"
    SPACE = "space"  # and comments
    WORD = "word"
    OPEN = "open"
    CLOSE = "close"
    END = "end"
    NAMED = "named"  # %(name)s, :name
    NEXT = "next"  # %s
    NUMBERED = "numbered"  # $1
    PERCENT = "percent"  # %%


class SqlToken(NamedTuple):
    kind: SqlTokenKind
    text: str
    start: int


# The order matters: a placeholder is one only outside of quotes and comments. A colon is one only
# where no cast, slice or label can be meant.
_TOKEN = re.compile(
    r"""
      (?P<comment>  --[^\n]* )
    | (?P<block>    /\* )
    | (?P<text>     [eE]'(?:[^'\\]+|\\.|'')*'? | '[^']*'? | "[^"]*"? )
    | (?P<dollar>   (?<![\w$])\$(?:[^\W\d]\w*)?\$ )
    | (?P<numbered> (?<![\w$])\$\d+ )
    | (?P<named>    %\(\w+\)s | (?<![\w:\])"']):[^\W\d]\w* )
    | (?P<next>     %s\b )
    | (?P<percent>  %% )
    | (?P<word>     [^\W\d][\w$]* )
    | (?P<open>     [(\[] )
    | (?P<close>    [)\]] )
    | (?P<end>      ; )
    | (?P<space>    \s+ )
    | (?P<other>    ::|\d+|. )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_KINDS = {
    "comment": SqlTokenKind.SPACE,
    "block": SqlTokenKind.SPACE,
    "dollar": SqlTokenKind.TEXT,
    "other": SqlTokenKind.TEXT,
}


def tokens_of(text: str) -> Iterator[SqlToken]:
    """All of `text`, in order and without gaps."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:  # `.` matches anything: not reached
            return
        end = _end_of(found, text)
        kind = _KINDS.get(found.lastgroup) or SqlTokenKind(found.lastgroup)
        yield SqlToken(kind, text[at:end], at)
        at = end


def _end_of(found: re.Match[str], text: str) -> int:
    if found.lastgroup == "dollar":
        close = text.find(found[0], found.end())
        return len(text) if close < 0 else close + len(found[0])
    if found.lastgroup == "block":
        return _end_of_comment(text, found.end())
    return found.end()


def _end_of_comment(text: str, at: int) -> int:
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, at):
        depth += 1 if edge[0] == "/*" else -1
        if not depth:
            return edge.end()
    return len(text)
