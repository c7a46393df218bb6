"""Addresses at which others may send one signal to one run, without a token of ours.

The address carries a signature that only whoever has the credential key can make; it opens nothing
else. Knows no HTTP.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from anew.credentials.key import need_key
from anew.engine.signals import NAME_FORM, is_name
from anew.environment import environment
from anew.errors import ConfigError
from anew.store import RunId

PREFIX = "/hooks"
# Credentials are sealed with the key itself; what signs addresses is made from it for that alone.
_PURPOSE = b"anew webhooks 1"


class Webhooks:
    """Signs addresses, and tells whether one was signed here. `secret` is the credential key."""

    def __init__(self, secret: bytes) -> None:
        self._key = _digest(secret, _PURPOSE)

    def path_for(self, run: RunId, name: str) -> str:
        """The path of the address; ConfigError when no signal can have this name."""
        if not is_name(name):
            raise ConfigError(f"{name[:80]!r} cannot be the name of a signal: it has {NAME_FORM}.")
        return f"{PREFIX}/{run}/{quote(name, safe='')}/{self._signature(run, name)}"

    def check(self, run: RunId, name: str, signature: str) -> bool:
        """Whether the signature is that of this run and name; takes as long either way."""
        expected = self._signature(run, name).encode()
        return hmac.compare_digest(expected, signature.encode("utf-8", "replace"))

    def _signature(self, run: RunId, name: str) -> str:
        # A run is a number, so that no two pairs give the same text.
        signed = _digest(self._key, f"{int(run)}\n{name}".encode("utf-8", "replace"))
        return urlsafe_b64encode(signed).rstrip(b"=").decode()


def open_webhooks(environ: Mapping[str, str] | None = None, home: Path | None = None) -> Webhooks:
    """Those of this machine: every server that has the same key checks the same addresses."""
    key = need_key(environment() if environ is None else environ, home or Path.home())
    return Webhooks(key.secret)


def _digest(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, sha256).digest()
