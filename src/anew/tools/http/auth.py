"""How a credential becomes part of a request.

A credential is data: `{type: bearer, token}`, `{type: basic, username, password}` or
`{type: api_key, value, header}` (or `query` instead of `header`). Messages never hold its values.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping

from msgspec import Struct

from anew.tools.inputs import BadInput
from anew.values import Value

_TYPES = "bearer, basic or api_key"
API_KEY_HEADER = "X-API-Key"


class RequestAuth(Struct, frozen=True):
    """What is added to a request."""

    headers: Mapping[str, str] = {}
    query: Mapping[str, str] = {}


def credential_of(auth: Value) -> RequestAuth:
    """What the input `auth` adds; nothing when it is not given."""
    if auth is None:
        return RequestAuth()
    if not isinstance(auth, Mapping):
        raise BadInput(f"`auth` must be a credential of type {_TYPES}")
    inner = auth.get("data")
    data = {**auth, **inner} if isinstance(inner, Mapping) else dict(auth)
    said = data.get("type")
    build = _BUILDERS.get(_type_word(said) if isinstance(said, str) else _guess(data))
    if build is None:
        fields = ", ".join(sorted(map(str, auth)))
        message = f"`auth` must name a credential, or be one whose `type` is {_TYPES}"
        raise BadInput(f"{message}; it has {fields or 'no fields'}")
    return build(data)


def _type_word(said: str) -> str:
    """`http_bearer`, `Bearer` and `api-key` are the words credentials of others use."""
    return said.strip().lower().replace("-", "_").removeprefix("http_")


def _guess(data: Mapping[str, Value]) -> str:
    """The type of a credential that does not say it, by the fields it has."""
    if "header" in data or "query" in data or "api_key" in data:
        return "api_key"
    if "token" in data or "access_token" in data:
        return "bearer"
    return "basic" if "username" in data or "user" in data else ""


def _bearer(data: Mapping[str, Value]) -> RequestAuth:
    token = _text(data, "token", "access_token", "value")
    return RequestAuth({"Authorization": f"Bearer {token}"})


def _basic(data: Mapping[str, Value]) -> RequestAuth:
    user = _text(data, "username", "user")
    password = _text(data, "password", may_be_empty=True)
    pair = b64encode(f"{user}:{password}".encode()).decode("ascii")
    return RequestAuth({"Authorization": f"Basic {pair}"})


def _api_key(data: Mapping[str, Value]) -> RequestAuth:
    value = _text(data, "value", "api_key", "key", "token")
    if isinstance(data.get("query"), str):
        return RequestAuth(query={data["query"]: value})
    header = data.get("header", API_KEY_HEADER)
    if not isinstance(header, str):
        raise BadInput("`header` of the credential in `auth` must be text")
    return RequestAuth({header: value})


def _text(data: Mapping[str, Value], *names: str, may_be_empty: bool = False) -> str:
    """The first of these fields that is given."""
    for name in names:
        value = data.get(name)
        if isinstance(value, str) and (value or may_be_empty):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    if may_be_empty:
        return ""
    raise BadInput(f"the credential in `auth` needs `{names[0]}`")


_BUILDERS: Mapping[str, Callable[[Mapping[str, Value]], RequestAuth]] = {
    "bearer": _bearer,
    "token": _bearer,
    "oauth2": _bearer,
    "basic": _basic,
    "api_key": _api_key,
    "apikey": _api_key,
    "header": _api_key,
}
