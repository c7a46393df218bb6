"""The forms in which a secret's text turns up elsewhere: as it is, by line, and encoded.

All of them are listed here, in `_FORMS`. Each has a name, by which the log can say what stood
there, so that a name keeps its meaning for ever.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
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
_UTF16_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# What Go escapes, and what .NET and PHP can, so that a text can be put into HTML.
_HTML_TAGS = re.compile("[<>&\u2028\u2029]+")
_HTML_MEANING = re.compile("[<>&'+`]+")
_ANY = re.compile(r".+", re.DOTALL)
_ENTITIES: Mapping[str, dict[int, str]] = {
    "html": str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}),
    "html_hex": str.maketrans(
        {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
    ),
    "html_decimal": str.maketrans(
        {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"}
    ),
}
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
    for forms in _FORMS:
        for name, form in forms(text):
            if form not in seen and len(form) >= PART_CHARS_MIN:
                seen.add(form)
                yield name, form


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


def _json_forms(text: str) -> Iterator[tuple[str, str]]:
    """As writers of JSON do it: PHP escapes the slash, Go and .NET what means something in HTML."""
    plain = json_text(text)[1:-1]
    ascii_only = _NOT_ASCII.sub(_utf16_escapes, plain)
    for_html = _HTML_MEANING.sub(_utf16_escapes, ascii_only).replace('\\"', "\\u0022")
    yield "json", plain
    yield "json_ascii", ascii_only
    yield "json_ascii_upper", _in_upper_case(ascii_only)
    yield "json_slash", plain.replace("/", "\\/")
    yield "json_ascii_slash", ascii_only.replace("/", "\\/")
    yield "json_html", _HTML_TAGS.sub(_utf16_escapes, plain)
    yield "json_html_ascii", for_html
    yield "json_html_upper", _in_upper_case(for_html)
    yield "json_twice", json_text(plain)[1:-1]
    every = _ANY.sub(_utf16_escapes, text)
    yield "json_escapes", every
    yield "json_escapes_upper", _in_upper_case(every)


def _utf16_escapes(found: re.Match[str]) -> str:
    digits = found.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(["\\u" + digits[at : at + 4] for at in range(0, len(digits), 4)])


def _in_upper_case(escaped: str) -> str:
    return _UTF16_ESCAPE.sub(lambda found: "\\u" + found[1].upper(), escaped)


def _url_forms(text: str) -> Iterator[tuple[str, str]]:
    forms = {name: quote(text, safe=safe) for name, safe in _URL_SAFE.items()}
    forms["url_plus"] = quote_plus(text)
    for name, form in forms.items():
        yield name, form
        yield f"{name}_lower", _ESCAPE.sub(lambda escape: escape.group().lower(), form)


def _base64_forms(text: str) -> Iterator[tuple[str, str]]:
    for offset in range(3):
        digits = _base64_core(text.encode(), offset)
        yield f"base64_{offset}", digits
        yield f"base64url_{offset}", digits.replace("+", "-").replace("/", "_")


def _hex_forms(text: str) -> Iterator[tuple[str, str]]:
    digits = text.encode().hex()
    yield "hex", digits
    yield "hex_upper", digits.upper()


def _text_forms(text: str) -> Iterator[tuple[str, str]]:
    """Backwards, in HTML, and between the quotes of a shell."""
    yield "reversed", text[::-1]
    for name, entities in _ENTITIES.items():
        yield name, text.translate(entities)
    yield "shell", text.replace("'", "'\\''")


def _base64_core(data: bytes, offset: int) -> str:
    """The digits that depend on `data` alone when it begins at `offset` of a group of three.

    In `base64("user:" + password)` the password's digits are cut at other places than in the
    base64 of the password; three offsets are all there are.
    """
    begin = -(-offset * _BITS_PER_BYTE // _BITS_PER_DIGIT)
    end = (offset + len(data)) * _BITS_PER_BYTE // _BITS_PER_DIGIT
    return b64encode(bytes(offset) + data).decode()[begin:end]


# The order counts: of two forms that are the same text, the log names the first.
_FORMS: tuple[Callable[[str], Iterator[tuple[str, str]]], ...] = (
    _lines,
    _inner_passwords,
    _json_forms,
    _url_forms,
    _base64_forms,
    _hex_forms,
    _text_forms,
)
