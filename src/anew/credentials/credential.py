"""What a credential is: a type and its data, of which some parts are secret.

Knows the JSON people write and which of its fields may be shown. Knows no place it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from anew.engine.secrets import credential_ref
from anew.errors import ConfigError
from anew.program.names import PUBLIC_CREDENTIAL_FIELDS
from anew.values import Object, Value, json_text
from anew.weight import problem_of

CREDENTIAL_BYTES_MAX = 1024 * 1024
FORM = '{"type": "postgres", "data": {"host": "…", "password": "…"}}'

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@/-]{0,127}")
_KEYS = frozenset({"name", "type", "description", "tags", "data"})


class Credential(Struct, frozen=True):
    """`ref` names it in the log: its name, after its provider where one was asked for."""

    ref: str
    type: str
    data: Value

    def __repr__(self) -> str:
        return f"Credential({self.ref!r}, {self.type!r})"

    def parts(self) -> Iterator[tuple[str, Value]]:
        """Everything a reference can name: the data, each part of it, by reference."""
        yield from _parts(self.ref, self.data)

    def secrets(self) -> Iterator[tuple[str, str]]:
        """Every text that must not be seen, by reference."""
        yield from _secrets(self.ref, self.data)


def _parts(ref: str, value: Value) -> Iterator[tuple[str, Value]]:
    yield ref, value
    for key, item in _items(value):
        yield from _parts(f"{ref}.{credential_ref(key)}", item)


def _secrets(ref: str, value: Value) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield ref, value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield ref, json_text(value)
    for key, item in _items(value):
        if key.lower() not in PUBLIC_CREDENTIAL_FIELDS:
            yield from _secrets(f"{ref}.{credential_ref(key)}", item)


def _items(value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((str(index), item) for index, item in enumerate(value))


def check_name(name: str) -> str:
    """The name, if a credential may be called that."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a credential: use letters, digits and _ . @ / -, "
            "at most 128 of them"
        )
    return name


def read_credential(text: str | bytes, where: str, *, ref: str) -> Credential:
    """The credential a JSON text describes; a ConfigError quotes nothing of it."""
    if len(text) > CREDENTIAL_BYTES_MAX:
        raise ConfigError(f"{where} is larger than {CREDENTIAL_BYTES_MAX:,} bytes")
    try:
        said = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ConfigError(f"{where} is not JSON. A credential looks like {FORM}") from None
    problem = _problem(said)
    if problem is not None:
        raise ConfigError(f"{where} {problem}. A credential looks like {FORM}")
    return Credential(ref, str(said["type"]), said["data"])


def _problem(said: Value) -> str | None:
    if not isinstance(said, dict):
        return "is not a JSON object"
    if not isinstance(said.get("type"), str) or not said["type"]:
        return "has no `type`"
    if not isinstance(said.get("data"), (dict, str)) or not said["data"]:
        return "has no `data` that is an object or a text"
    # A key in the wrong place may be a secret, so it is not quoted.
    if not said.keys() <= _KEYS:
        return f"has a key other than {', '.join(sorted(_KEYS))}"
    problem = problem_of(said)
    return f"cannot be kept: it {problem}" if problem else None


def tool_data(credential: Credential) -> Object:
    """The data as tools take it: always an object, with the credential's type."""
    data = credential.data
    inner = data if isinstance(data, dict) else {"value": data}
    return {"type": credential.type, **inner}
