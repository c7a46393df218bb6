"""Seal a credential for the store and open it again: AES-256-GCM.

A sealed credential is one byte for the format, four that tell which key sealed it, twelve of
nonce, and the encrypted JSON. Its name and type are authenticated with it, so that one cannot be
passed off as another.
"""

from __future__ import annotations

import hashlib
import os

import msgspec

from anew.credentials.credential import Credential, read_credential
from anew.credentials.key import KEY_VARIABLE, Key
from anew.errors import ConfigError
from anew.store import SealedCredential

_FORMAT = b"\x01"
_KEY_MARK_BYTES, _NONCE_BYTES = 4, 12
_HEAD_BYTES = len(_FORMAT) + _KEY_MARK_BYTES + _NONCE_BYTES


def seal_credential(name: str, credential: Credential, key: Key, *, now: int) -> SealedCredential:
    """The credential as it may lie at rest."""
    # Slow to import, and most runs have no credentials.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    plain = msgspec.json.encode({"type": credential.type, "data": credential.data})
    nonce = os.urandom(_NONCE_BYTES)
    bound = _bound(name, credential.type)
    encrypted = AESGCM(key.secret).encrypt(nonce, plain, bound)
    sealed = _FORMAT + _key_mark(key) + nonce + encrypted
    return SealedCredential(name, credential.type, sealed, now)


def open_credential(row: SealedCredential, key: Key | None, *, ref: str) -> Credential:
    """What was sealed; ConfigError when the key is another or the row was changed."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    if key is None:
        raise ConfigError(
            f"the credential {row.name!r} is sealed and there is no key. "
            f"Set ${KEY_VARIABLE} to the key it was added with, or add it again."
        )
    head, encrypted = row.sealed[:_HEAD_BYTES], row.sealed[_HEAD_BYTES:]
    if head[:1] != _FORMAT:
        raise ConfigError(
            f"the credential {row.name!r} has a form this version of Anew does not know"
        )
    if head[1 : 1 + _KEY_MARK_BYTES] != _key_mark(key):
        raise ConfigError(
            f"the credential {row.name!r} was sealed with another key than that of {key.source}. "
            f"Set ${KEY_VARIABLE} to the key it was added with, or add it again."
        )
    try:
        bound = _bound(row.name, row.kind)
        plain = AESGCM(key.secret).decrypt(head[-_NONCE_BYTES:], encrypted, bound)
    except InvalidTag:
        raise ConfigError(
            f"the credential {row.name!r} was changed in the store and cannot be trusted. "
            f"Add it again: `anew credential add {row.name} --file FILE`."
        ) from None
    return read_credential(plain, f"the credential {row.name!r}", ref=ref)


def _key_mark(key: Key) -> bytes:
    """Tells keys apart and says nothing about them."""
    return hashlib.sha256(b"anew key mark" + key.secret).digest()[:_KEY_MARK_BYTES]


def _bound(name: str, kind: str) -> bytes:
    return msgspec.json.encode([name, kind])
