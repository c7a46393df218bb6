"""A response read within its limit, and made into values a log can hold."""

from __future__ import annotations

import codecs
import json
from base64 import b64encode
from collections.abc import Collection
from contextlib import aclosing
from email.message import Message

import httpx2
import msgspec

from anew.tools.http.problems import LimitPassed
from anew.values import Object, Value

# Codecs that are no character sets; some of them are slow on purpose-made input.
_NO_CHARSETS = frozenset({"unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined"})


async def read_body(response: httpx2.Response, bytes_max: int) -> bytes:
    """The body, decompressed; the count is kept while it comes, so that none can fill memory."""
    parts: list[bytes] = []
    size = 0
    async with aclosing(response.aiter_bytes()) as pieces:
        async for part in pieces:
            size += len(part)
            if size > bytes_max:
                raise LimitPassed(
                    f"the body is longer than HTTP_RESPONSE_BYTES_MAX ({bytes_max:,} bytes). "
                    "Ask for less at a time, or set ANEW_HTTP_RESPONSE_BYTES_MAX"
                )
            parts.append(part)
    return b"".join(parts)


def result_of(
    response: httpx2.Response, *, data: Value, elapsed: float, secret_query: Collection[str]
) -> Object:
    """What rules and later tasks read. `body` is answered by expressions from `data`."""
    return {
        "status_code": response.status_code,
        "headers": dict(response.headers.items()),  # lower case; repeated ones joined
        "url": shown_url(response.url, secret_query),
        "elapsed": round(elapsed, 6),
        "data": data,
    }


def shown_url(url: httpx2.URL, secret_query: Collection[str] = ()) -> str:
    """An address without what a credential put into it."""
    for name in secret_query:
        url = url.copy_remove_param(name)
    return str(url.copy_with(userinfo=b""))


def place_of(url: httpx2.URL) -> str:
    """An address as error messages name it: without user, password and parameters."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))


def data_of(body: bytes, content_type: str) -> Value:
    """JSON where the type says so, else text; what is no text is `{"base64": …}`."""
    kind, charset = _type_of(content_type)
    text = _text_of(body, charset, is_json=_is_json(kind))
    if text is None:
        return {"base64": b64encode(body).decode("ascii")}
    if not _is_json(kind):
        return text
    try:
        return msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text


def _type_of(content_type: str) -> tuple[str, str | None]:
    message = Message()
    message["content-type"] = content_type
    try:
        return message.get_content_type(), message.get_content_charset()
    except (ValueError, LookupError):  # an encoded parameter that cannot be read
        return content_type.partition(";")[0].strip().lower(), None


def _is_json(kind: str) -> bool:
    return kind == "application/json" or kind.endswith("+json")


def _text_of(body: bytes, charset: str | None, *, is_json: bool) -> str | None:
    """The body by its declared character set, else as UTF-8, else None."""
    guessed = json.detect_encoding(body) if is_json else "utf-8"
    for name in (charset, guessed):
        if name is None or not _is_charset(name):
            continue
        try:
            return body.decode(name)
        except (ValueError, LookupError):  # other bytes, or a codec that makes no text
            continue
    return None


def _is_charset(name: str) -> bool:
    try:
        return codecs.lookup(name).name.replace("-", "_") not in _NO_CHARSETS
    except (LookupError, ValueError):
        return False
