"""Seal a credential for the store and open it again: AES-256-GCM.

A sealed credential is one byte for the format, four that tell which key sealed it, eight for its
version, twelve of nonce, and the encrypted JSON. Name, type and version are authenticated with it,
so that one cannot be passed off as another. Format 1 has no version: it counts as 0.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

import msgspec

from anew.credentials.credential import Credential, read_credential
from anew.credentials.key import SealingKey
from anew.credentials.seen_versions import SeenVersions
from anew.environment import KEY_VARIABLE
from anew.errors import ConfigError
from anew.store import SealedCredential, Vault

_UNVERSIONED, _FORMAT = b"\x01", b"\x02"
_KEY_MARK_BYTES, _VERSION_BYTES, _NONCE_BYTES = 4, 8, 12
_MARK_END = len(_FORMAT) + _KEY_MARK_BYTES
_VERSION_END = {_UNVERSIONED: _MARK_END, _FORMAT: _MARK_END + _VERSION_BYTES}


def seal_credential(
    name: str, credential: Credential, key: SealingKey, *, now: int
) -> SealedCredential:
    """The credential as it may lie at rest. Its version is the moment `now`."""
    # Slow to import, and most runs have no credentials.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    plain = msgspec.json.encode({"type": credential.type, "data": credential.data})
    nonce = os.urandom(_NONCE_BYTES)
    encrypted = AESGCM(key.secret).encrypt(nonce, plain, _bound(name, credential.type, now))
    sealed = _FORMAT + _key_mark(key) + now.to_bytes(_VERSION_BYTES) + nonce + encrypted
    return SealedCredential(name, credential.type, sealed, now)


def open_credential(row: SealedCredential, key: SealingKey | None, *, ref: str) -> Credential:
    """What was sealed; ConfigError when the key is another or the row was changed."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    if key is None:
        raise ConfigError(
            f"the credential {row.name!r} is sealed and there is no key. "
            f"Set ${KEY_VARIABLE} to the key it was added with, or add it again."
        )
    version_end = _VERSION_END.get(row.sealed[:1])
    if version_end is None:
        raise ConfigError(
            f"the credential {row.name!r} has a form this version of Anew does not know"
        )
    if row.sealed[1:_MARK_END] != _key_mark(key):
        raise ConfigError(
            f"the credential {row.name!r} was sealed with another key than that of {key.source}. "
            f"Set ${KEY_VARIABLE} to the key it was added with, or add it again."
        )
    try:
        nonce_end = version_end + _NONCE_BYTES
        nonce, encrypted = row.sealed[version_end:nonce_end], row.sealed[nonce_end:]
        bound = _bound(row.name, row.kind, version_of(row))
        plain = AESGCM(key.secret).decrypt(nonce, encrypted, bound)
    except (InvalidTag, ValueError):  # the latter for a nonce that was cut
        raise ConfigError(
            f"the credential {row.name!r} was changed in the store and cannot be trusted. "
            f"Add it again: `anew credential add {row.name} --file FILE`."
        ) from None
    return read_credential(plain, f"the credential {row.name!r}", ref=ref)


async def next_version(
    vault: Vault, name: str, key: SealingKey, *, seen: SeenVersions, now: int
) -> int:
    """What to seal a credential with, so that it is newer than the one that is there.

    The clock of whoever added that one may be ahead of ours.
    """
    row = await vault.sealed(name)
    if row is not None:
        with suppress(ConfigError):  # one that cannot be opened is no reason not to replace it
            open_credential(row, key, ref=name)
            now = max(now, version_of(row) + 1)
    return seen.next_version(name, now)


def _key_mark(key: SealingKey) -> bytes:
    """Tells keys apart and says nothing about them."""
    return hashlib.sha256(b"anew key mark" + key.secret).digest()[:_KEY_MARK_BYTES]


def version_of(row: SealedCredential) -> int:
    """The moment it was sealed; trust it once the credential was opened."""
    end = _VERSION_END.get(row.sealed[:1], _MARK_END)
    return int.from_bytes(row.sealed[_MARK_END:end])


def _bound(name: str, kind: str, version: int) -> bytes:
    return msgspec.json.encode([name, kind, version] if version else [name, kind])
