"""Code as HTML: each piece of it has one of a few classes, to which `site.css` gives a colour."""

from __future__ import annotations

from html import escape
from typing import Any

from pygments import lex, lexers, token  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

# The first that fits counts.
_CLASSES: tuple[tuple[Any, str], ...] = (
    (token.Comment, "comment"),
    (token.Number, "number"),
    (token.Literal, "string"),
    (token.Keyword, "keyword"),
    (token.Name.Tag, "key"),
    (token.Name.Attribute, "key"),
    (token.Generic.Prompt, "prompt"),
    (token.Generic.Output, "output"),
)
# What was written is shown, empty lines at its ends too.
_WHOLE = {"stripnl": False, "ensurenl": False}


def block(code: str, *, language: str = "", file: str = "") -> str:
    """A block of code. It can have the focus, so that a keyboard scrolls it."""
    pieces = list(lex(code, _lexer(language, file)))
    # A lexer may lose what it does not understand. What was written counts more than its colours.
    is_whole = "".join(text for _, text in pieces) == code
    told = "".join(_piece(kind, text) for kind, text in pieces) if is_whole else escape(code)
    return f'<pre tabindex="0"><code>{told}</code></pre>\n'


def _lexer(language: str, file: str) -> Any:
    """By the name of the language or of the file; where neither is known, nothing is coloured."""
    try:
        if file:
            return lexers.get_lexer_for_filename(file, **_WHOLE)
        return lexers.get_lexer_by_name(language or "text", **_WHOLE)
    except ClassNotFound:
        return lexers.get_lexer_by_name("text", **_WHOLE)


def _piece(kind: Any, text: str) -> str:
    name = next((name for family, name in _CLASSES if kind in family), None)
    return escape(text) if name is None else f'<span class="{name}">{escape(text)}</span>'
