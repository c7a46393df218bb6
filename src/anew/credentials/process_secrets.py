"""The secrets of this process and its operator: its token, its key, the password of its database.

No document names them, yet a task of the same user can come across them. Knows the forms in which
the process is told them; reads nothing by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from anew.credentials.credential import Credential
from anew.environment import DB_VARIABLE, KEY_VARIABLE, PASSWORD_VARIABLE, TOKEN_VARIABLE
from anew.values import Object, Value

# A shorter text is in too many others, and nobody has declared it to be a secret.
_CHARS_MIN = 8
# As long as that, and a part of many honest results.
_NO_SECRETS = frozenset({"postgres", "password"})
# Variables and header fields that no one hides anything in, and whose values are in many results.
_PUBLIC_NAMES = frozenset({"path", "home", "lang", "accept", "content-type", "user-agent"})
_SCHEME = re.compile(r"\A(?:basic|bearer|token) +", re.IGNORECASE)
_VARIABLES = {"token": TOKEN_VARIABLE, "key": KEY_VARIABLE, "password": PASSWORD_VARIABLE}

# As libpq reads an address: `user:password@`, and `?password=` or `?sslpassword=`.
_OF_USER = re.compile(r"://(?P<user>[^:@/]*):(?P<password>[^@/]+)@")
_OF_QUERY = re.compile(r"[?&](?:ssl)?password=([^&#]+)")


def environment_secrets(environ: Mapping[str, str]) -> Credential:
    """What the environment of the process holds."""
    said = {name: environ.get(variable) or "" for name, variable in _VARIABLES.items()}
    return _credential(said, environ.get(DB_VARIABLE) or "")


def given_secrets(*, token: str | None = None, address: str | None = None) -> Credential:
    """What the process was told in another way: a server's token, the address of a database."""
    return _credential({"token": token or ""}, address or "")


def listed_secrets(where: str, values: Mapping[str, Value]) -> Credential:
    """What the operator gives the servers of a list, by the name of a variable or header field."""
    found: Object = {}
    for name, value in values.items():
        # Of `Bearer …` a server may quote the token alone.
        text = _SCHEME.sub("", str(value), count=1)
        if name.lower() not in _PUBLIC_NAMES and _is_secret(text):
            found[name] = text
    return Credential(where, "process", found)


def _credential(said: Mapping[str, str], address: str) -> Credential:
    """Passwords only, not the address: its beginning is that of other addresses too."""
    inner = {f"address_{number}": text for number, text in enumerate(_passwords_in(address), 1)}
    found = {name: text for name, text in {**said, **inner}.items() if _is_secret(text)}
    return Credential("anew", "process", found)


def _is_secret(text: str) -> bool:
    return len(text) >= _CHARS_MIN and text not in _NO_SECRETS


def _passwords_in(address: str) -> Iterator[str]:
    """As they are written there, and as they are meant."""
    found = _OF_USER.search(address)
    # One that everybody knows who knows the user protects nothing, and the name is in results.
    written = [found["password"]] if found and found["password"] != found["user"] else []
    for password in written + _OF_QUERY.findall(address):
        yield password
        yield unquote(password)
