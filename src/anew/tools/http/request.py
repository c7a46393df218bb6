"""A task's inputs made into a request. What cannot be sent is refused here, before any network."""

from __future__ import annotations

import re
from collections.abc import Mapping

import httpx2
from msgspec import Struct

from anew.tool import Call
from anew.tools.http.auth import RequestAuth, credential_of
from anew.tools.http.body import Content, content_of, query_of
from anew.tools.inputs import BadInput
from anew.values import Value, as_text

# RFC 9110, section 5.6.2: what a method and the name of a header are made of.
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NOT_IN_A_HEADER = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SCHEMES = ("http", "https")
# How the body is framed is not the author's to say: a wrong length would break the connection.
_FRAMING = ("content-length", "transfer-encoding")


class Prepared(Struct, frozen=True):
    """A request to send. `secret_headers` and `secret_query` name what the credential added."""

    method: str
    url: httpx2.URL
    headers: list[tuple[str, bytes]]
    sent: bytes | None
    follows_redirects: bool
    secret_headers: frozenset[str]
    secret_query: frozenset[str]


def prepare(call: Call) -> Prepared:
    """The request these inputs ask for; BadInput says what is wrong with them."""
    inputs = call.inputs
    method = _method(inputs.get("method"))
    headers = _headers(inputs.get("headers"))
    content = content_of(inputs, method, _content_type(headers))
    address = _address(inputs.get("url"))
    credential = _credential(inputs.get("auth"), address)
    url = _url(address, inputs, content=content, credential=credential)
    _complete(headers, content, credential, call)
    return Prepared(
        method=method,
        url=url,
        headers=[(name, _header_bytes(name, value)) for name, value in headers.items()],
        sent=content.sent,
        follows_redirects=flag_of(inputs.get("follow_redirects"), "follow_redirects"),
        secret_headers=frozenset(name.lower() for name in credential.headers),
        secret_query=frozenset(credential.query),
    )


def flag_of(value: Value, name: str) -> bool:
    """A switch that is on unless it says otherwise."""
    if value is None or isinstance(value, bool):
        return value is not False
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise BadInput(f"`{name}` must be true or false")


def _method(value: Value) -> str:
    method = "GET" if value is None else value
    if not isinstance(method, str) or not _TOKEN.fullmatch(method.strip()):
        raise BadInput("`method` must be a word such as GET or POST")
    if method.strip().upper() == "CONNECT":
        raise BadInput("`method` cannot be CONNECT")
    return method.strip().upper()


def _credential(auth: Value, address: httpx2.URL) -> RequestAuth:
    """The credential of `auth`, else the user and password in the address."""
    if auth is None and address.userinfo:
        return credential_of(
            {"type": "basic", "username": address.username, "password": address.password}
        )
    return credential_of(auth)


def _url(
    address: httpx2.URL, inputs: Mapping[str, Value], *, content: Content, credential: RequestAuth
) -> httpx2.URL:
    """The address with all parameters, and without the user and password in it."""
    parts = [
        address.query,
        query_of(inputs.get("params"), "params"),
        query_of(content.query, "data"),
        query_of(credential.query, "auth"),
    ]
    query = b"&".join(filter(None, parts))
    try:
        return address.copy_with(query=query or None, userinfo=b"")
    except (httpx2.InvalidURL, ValueError):
        raise BadInput("`url` and its parameters do not make an address") from None


def _address(value: Value) -> httpx2.URL:
    """The address as written. No message repeats it: it may hold a password."""
    if not isinstance(value, str) or not value.strip():
        raise BadInput("`url` must be the address to call, such as https://example.com/items")
    try:
        url = httpx2.URL(value.strip())
        host = url.host
    except (httpx2.InvalidURL, ValueError):
        raise BadInput("`url` is not an address; write it as https://example.com/items") from None
    if url.scheme not in _SCHEMES:
        found = f"it has {url.scheme!r}" if url.scheme else "it has none"
        raise BadInput(f"`url` must start with http:// or https://; {found}")
    if not host:
        raise BadInput("`url` names no host")
    return url


def _headers(value: Value) -> dict[str, str]:
    """Headers by their names as written; null leaves one out."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadInput("`headers` must be a mapping of names to values")
    found: dict[str, str] = {}
    for name, said in value.items():
        if not _TOKEN.fullmatch(str(name)):
            raise BadInput(f"{str(name)!r} cannot be the name of a header")
        if said is not None and str(name).lower() not in _FRAMING:
            found[str(name)] = as_text(said)
    return found


def _content_type(headers: Mapping[str, str]) -> str | None:
    return next((said for name, said in headers.items() if name.lower() == "content-type"), None)


def _complete(
    headers: dict[str, str], content: Content, credential: RequestAuth, call: Call
) -> None:
    """Add what follows from the other inputs. Only a credential replaces what the author wrote."""
    known = {name.lower(): name for name in headers}
    for name, said in credential.headers.items():
        if not _TOKEN.fullmatch(name):
            raise BadInput("`header` of the credential in `auth` cannot be the name of a header")
        headers.pop(known.get(name.lower(), ""), None)
        headers[name] = said
    if content.kind is not None and "content-type" not in known:
        headers["Content-Type"] = content.kind
    key = _idempotency_key(call)
    if key is not None and "idempotency-key" not in known:
        headers["Idempotency-Key"] = key


def _idempotency_key(call: Call) -> str | None:
    value = call.inputs.get("idempotency_key")
    if value is True:
        return call.idempotency_key
    if value is None or value is False or value == "":
        return None
    if isinstance(value, (str, int)):
        return str(value)
    raise BadInput("`idempotency_key` must be true, false or a text")


def _header_bytes(name: str, value: str) -> bytes:
    """A value as bytes: what is not ASCII goes as UTF-8, as other clients do."""
    said = value.strip()
    if _NOT_IN_A_HEADER.search(said):
        raise BadInput(f"the header {name!r} has a line break or control character in it")
    try:
        return said.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the header {name!r} has half of a surrogate pair in it") from None
