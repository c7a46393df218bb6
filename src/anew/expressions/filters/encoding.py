"""Filters between values and the encodings other systems speak: JSON, base64, URLs, HTML, sh."""

from __future__ import annotations

import base64
import binascii
import json
from functools import cache
from typing import NoReturn

from anew.expressions.arguments import integer_of, text_of
from anew.expressions.costs import AS_IT_GOES, Priced, by_size, slowly, spend_for_parts
from anew.expressions.evaluation import Evaluation
from anew.expressions.problems import OperationError
from anew.expressions.rendering import check_chars, kind, to_json
from anew.expressions.signature import Calls
from anew.expressions.undefined import UNDEFINED, plain
from anew.values import Value

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;"})
_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_INDENT_MAX = 16
# A quote ends the quoted text, stands there escaped, and the text goes on.
_SHELL_QUOTE = "'\\''"
_PAIR = 2
# Of a text that is quoted for a URL.
_BYTES_PER_OPERATION = 32


def tojson(run: Evaluation, value: Value, indent: Value = None) -> str:
    """The JSON form, undefined as null; keys in their own order, nothing escaped for HTML."""
    width = None if indent is None else integer_of(indent, "the indent")
    if width is not None and not 0 <= width <= _INDENT_MAX:
        raise OperationError(f"the indent must be 0 to {_INDENT_MAX}")
    if width is not None:
        # Lines are broken by interpreted code, for each part; characters are copied as ever.
        spend_for_parts(run, value)
    text = to_json(plain(value), run.limits, indent=width)
    run.spend_bulk(len(text))
    return text


def fromjson(run: Evaluation, value: Value) -> Value:
    """The value a JSON text stands for; undefined stays undefined."""
    if value is UNDEFINED:
        return UNDEFINED
    text = text_of(run, value)
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except ValueError as error:
        raise OperationError(f"'fromjson': the text is not JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise OperationError(f"'fromjson': {name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise OperationError("'fromjson': a number is too large")
    return number


def b64encode(run: Evaluation, value: Value) -> str:
    return base64.b64encode(text_of(run, value).encode()).decode()


def b64decode(run: Evaluation, value: Value) -> str:
    text = text_of(run, value)
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise OperationError("'b64decode': the text is not base64 of UTF-8 text") from None


def urlencode(run: Evaluation, value: Value) -> str:
    """A text quoted for a path; an object or a list of pairs as a query."""
    if not isinstance(value, (dict, list)):
        return _within_limit(run, _quoted(run, text_of(run, value), "/"))
    pairs = list(value.items()) if isinstance(value, dict) else value
    run.spend(len(pairs))
    return _within_limit(run, "&".join(_pair(run, pair) for pair in pairs))


def _pair(run: Evaluation, pair: Value) -> str:
    if not isinstance(pair, (list, tuple)) or len(pair) != _PAIR:
        raise OperationError("'urlencode' needs a text, an object or a list of pairs")
    key, value = (_quoted(run, text_of(run, part), " ").replace(" ", "+") for part in pair)
    return f"{key}={value}"


def _quoted(run: Evaluation, text: str, safe: str) -> str:
    """Percent-encoded but for the unreserved characters of RFC 3986 and those in `safe`."""
    if text.isascii() and text.isalnum():
        return text
    data, kept = text.encode(), _UNRESERVED + safe.encode()
    run.spend(len(data) // _BYTES_PER_OPERATION)
    check_chars(len(data) + 2 * len(data.translate(None, kept)), run.limits)
    return "".join(map(_written(kept).__getitem__, data))


@cache
def _written(kept: bytes) -> list[str]:
    """How each byte is written."""
    return [chr(byte) if byte in kept else f"%{byte:02X}" for byte in range(256)]


def _within_limit(run: Evaluation, text: str) -> str:
    check_chars(len(text), run.limits)
    return text


def escape(run: Evaluation, value: Value) -> str:
    """Safe inside HTML."""
    return _within_limit(run, text_of(run, value).translate(_HTML))


def shquote(run: Evaluation, value: Value) -> str:
    """One word of a POSIX shell, whatever is in the text; a list gives a word for each item."""
    words = value if isinstance(value, list) else [value]
    texts = [_word_text(run, word) for word in words]
    size = sum(len(text) + 4 * text.count("'") + 3 for text in texts)
    check_chars(size, run.limits)
    return " ".join("'" + text.replace("'", _SHELL_QUOTE) + "'" for text in texts)


def _word_text(run: Evaluation, value: Value) -> str:
    # An empty word in place of what is missing can do harm: rm -rf ''/*.
    if value is None or value is UNDEFINED or isinstance(value, (list, dict)):
        raise OperationError(
            f"'shquote' needs a text, a number or a list of them, found {kind(value)}"
        )
    text = text_of(run, value)
    if "\0" in text:
        raise OperationError("'shquote': the text has a NUL character, which no command can have")
    return text


ENCODING_FILTERS: Calls = {
    "tojson": Priced(tojson, AS_IT_GOES),
    "fromjson": Priced(fromjson, slowly(4)),
    "b64encode": Priced(b64encode, by_size),
    "b64decode": Priced(b64decode, by_size),
    "urlencode": Priced(urlencode, slowly(2)),
    "escape": Priced(escape, slowly(4)),
    "e": Priced(escape, slowly(4)),
    "shquote": Priced(shquote, slowly(4)),
}
