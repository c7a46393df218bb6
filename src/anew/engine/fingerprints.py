"""Which failures are one and the same problem, whatever ids and moments their messages have.

Knows errors as rules see them. Does not know runs, programs or stores.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from anew.values import Value

FINGERPRINT_CHARACTERS = 12
# What a longer message says after this tells no problems apart.
FINGERPRINTED_CHARACTERS_MAX = 2_000

# The first that fits takes a text out; what is left is what the author of the message wrote.
_VARIES = re.compile(
    r"""
      (?P<url> [a-z][a-z0-9+.-]{0,20}:// [^\s/?\#"'<>]* (?P<path> [^\s?\#"'<>]* ) [^\s"'<>]* )
    | (?P<quoted> "[^"]*" | `[^`]*` | “[^”]*” | (?<!\w) '[^']*' (?!\w) )
    | (?P<number> (?<![\w.:+-]) [\w.:+-]* \d [\w.:+-]* )
    | (?P<hex> \b [a-f]{8,} \b )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# 1, 2 and 3 words that vary, one after the other, are the same problem.
_ROW_OF_MARKS = re.compile(r"#(?:[\s,;/|-]*#)+")
_SPACE = re.compile(r"\s+")


def fingerprint_of(error: Mapping[str, Value] | None) -> str:
    """The same 12 hexadecimal digits for errors that differ only in what varies from run to run.

    Its kind, its code (an HTTP status, say) and its message count.
    """
    said = error or {}
    parts = (kind_of(error), str(said.get("code") or "")[:80], steady(message_of(error)))
    return sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:FINGERPRINT_CHARACTERS]


def kind_of(error: Mapping[str, Value] | None) -> str:
    """What sort of error it is; `failed` for one that does not say."""
    kind = (error or {}).get("kind")
    return kind if isinstance(kind, str) and kind else "failed"


def message_of(error: Mapping[str, Value] | None) -> str:
    message = (error or {}).get("message")
    return message if isinstance(message, str) else ""


def steady(message: str) -> str:
    """A message without what varies: numbers, ids, moments, quoted texts, hosts and queries."""
    text = _SPACE.sub(" ", message[:FINGERPRINTED_CHARACTERS_MAX].strip())
    return _ROW_OF_MARKS.sub("#", _VARIES.sub(_mark, text))


def _mark(found: re.Match[str]) -> str:
    """What stands for it. Of a URL the path stays, without its ids."""
    if found["url"] is None:
        return "#"
    return "url:" + _VARIES.sub("#", found["path"] or "")
