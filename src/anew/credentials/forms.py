"""The forms in which a secret's text turns up elsewhere: as it is, by line, in URLs, JSON, base64.

Each form has a name, by which the log can say what stood there.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote, quote_plus, unquote

from anew.engine.secret_texts import PART_CHARS_MIN, PLAIN
from anew.values import json_text

_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))
# What different writers of URLs leave as it is, beside letters, digits and -._~
_URL_SAFE = {
    "url": "",
    "url_slash": "/",
    "url_component": "!'()*",  # JavaScript's encodeURIComponent
    "url_sub_delims": "!$&'()*+,;=:@/",  # RFC 3986, a path
    "url_path": "".join(sorted(_PRINTABLE - set('"#<>?`{}'))),  # WHATWG
    "url_query": "".join(sorted(_PRINTABLE - set('"#<>'))),
    "url_user": "".join(sorted(_PRINTABLE - set('"#<>?`{}/:;=@[\\]^|'))),
}
_ESCAPE = re.compile("%[0-9A-F]{2}")
# The password inside an address: `scheme://user:password@host`, `password=…`, `PWD=…`.
_INNER_PASSWORD = re.compile(
    r"://[^/@:\s]*:(?P<address>[^/@\s]+)@|\b(?:password|pwd)=(?P<word>'[^']*'|[^\s;&]+)",
    re.IGNORECASE,
)
# Of a secret with several lines each is one too, since messages quote single lines. A shorter line
# is no secret by itself, and is in too many other texts.
LINE_CHARS_MIN = 8
# A search looks for each of them. A private key has about fifty.
SECRET_LINES_MAX = 1000
# The frame of a key or certificate, which is the same for all of them.
_FRAME = re.compile(r"-+ ?(?:BEGIN|END) [A-Z0-9 ]+-+")
_BITS_PER_BYTE, _BITS_PER_DIGIT = 8, 6


def forms_of(text: str) -> Iterator[tuple[str, str]]:
    """Each form that differs from those before it, by name; the plain one first."""
    yield PLAIN, text
    # Too short to be recognised anywhere but alone, where nobody encodes it.
    if len(text) < PART_CHARS_MIN:
        return
    seen = {text}
    for name, form in _encoded_forms(text):
        if form not in seen and len(form) >= PART_CHARS_MIN:
            seen.add(form)
            yield name, form


def _encoded_forms(text: str) -> Iterator[tuple[str, str]]:
    yield from _lines(text)
    yield from _inner_passwords(text)
    yield "json", json_text(text)[1:-1]
    yield "json_ascii", _ascii_json(text)
    yield from _url_forms(text)
    for offset in range(3):
        digits = _base64_core(text.encode(), offset)
        yield f"base64_{offset}", digits
        yield f"base64url_{offset}", digits.replace("+", "-").replace("/", "_")


def _lines(text: str) -> Iterator[tuple[str, str]]:
    lines = [line.strip() for line in text.splitlines()[:SECRET_LINES_MAX]]
    for number, line in enumerate(lines, 1):
        if len(line) >= LINE_CHARS_MIN and not _FRAME.fullmatch(line):
            yield f"line_{number}", line


def _inner_passwords(text: str) -> Iterator[tuple[str, str]]:
    found = _INNER_PASSWORD.search(text)
    if found is None:
        return
    password = (found["address"] or found["word"]).strip("'")
    yield "password", password
    yield "password_unquoted", unquote(password)


def _ascii_json(text: str) -> str:
    escaped = json_text(text)[1:-1]
    return "".join(char if char.isascii() else _utf16_escape(char) for char in escaped)


def _utf16_escape(char: str) -> str:
    data = char.encode("utf-16-be")
    units = [data[n : n + 2].hex() for n in range(0, len(data), 2)]
    return "".join(f"\\u{unit}" for unit in units)


def _url_forms(text: str) -> Iterator[tuple[str, str]]:
    forms = {name: quote(text, safe=safe) for name, safe in _URL_SAFE.items()}
    forms["url_plus"] = quote_plus(text)
    for name, form in forms.items():
        yield name, form
        yield f"{name}_lower", _ESCAPE.sub(lambda escape: escape.group().lower(), form)


def _base64_core(data: bytes, offset: int) -> str:
    """The digits that depend on `data` alone when it begins at `offset` of a group of three.

    In `base64("user:" + password)` the password's digits are cut at other places than in the
    base64 of the password; three offsets are all there are.
    """
    begin = -(-offset * _BITS_PER_BYTE // _BITS_PER_DIGIT)
    end = (offset + len(data)) * _BITS_PER_BYTE // _BITS_PER_DIGIT
    return b64encode(bytes(offset) + data).decode()[begin:end]
