"""Code as HTML: what each piece of it is, as one of a few classes that `site.css` gives a colour."""

from __future__ import annotations

from html import escape

from pygments import lex
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, String, _TokenType
from pygments.util import ClassNotFound

# The first that fits counts.
_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "comment"),
    (Number, "number"),
    (String, "string"),
    (Literal, "string"),
    (Keyword, "keyword"),
    (Name.Tag, "key"),
    (Name.Attribute, "key"),
    (Generic.Prompt, "prompt"),
    (Generic.Output, "output"),
)
# Coloured as shell sessions, these would be wrong as often as right.
_PLAIN = frozenset({"", "text", "mermaid"})


def block(code: str, *, language: str = "", file: str = "") -> str:
    """A block of code. It can have the focus, so that a keyboard scrolls it."""
    return f'<pre tabindex="0"><code>{_coloured(code, language, file)}</code></pre>\n'


def _coloured(code: str, language: str, file: str) -> str:
    try:
        if language in _PLAIN and not file:
            return escape(code)
        options = {"stripnl": False, "ensurenl": False}
        lexer = (
            get_lexer_for_filename(file, **options)
            if file
            else get_lexer_by_name(language, **options)
        )
    except ClassNotFound:
        return escape(code)
    return "".join(_piece(kind, text) for kind, text in lex(code, lexer))


def _piece(kind: _TokenType, text: str) -> str:
    name = next((name for family, name in _CLASSES if kind in family), None)
    return escape(text) if name is None else f'<span class="{name}">{escape(text)}</span>'
