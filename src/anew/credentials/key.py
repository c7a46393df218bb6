"""The key that seals credentials: where it is found, how it is made, what makes it unusable.

`$ANEW_KEY` comes first; else a file that only its owner may read, made when first needed.
"""

from __future__ import annotations

import os
import secrets
import stat
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from anew.environment import KEY_VARIABLE
from anew.errors import ConfigError
from anew.files import PRIVATE_FILE, PRIVATE_FOLDER, os_reason

KEY_BYTES = 32
_OTHERS = 0o077
_READ_BYTES = 4096


class SealingKey(Struct, frozen=True):
    """32 bytes, and where they come from."""

    secret: bytes
    source: str

    def __repr__(self) -> str:
        return f"Key({self.source!r})"


def key_file(home: Path) -> Path:
    """Where the key lies unless the environment has it."""
    return home / ".config" / "anew" / "key"


def find_key(environ: Mapping[str, str], home: Path) -> SealingKey | None:
    """The key; None when there is none yet. ConfigError when what there is cannot be used."""
    said = environ.get(KEY_VARIABLE)
    if said:
        return _key(said, f"${KEY_VARIABLE}")
    path = key_file(home)
    try:
        mode = path.stat().st_mode
        text = path.read_bytes()[:_READ_BYTES].decode("ascii", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot read the key {path}: {os_reason(error)}") from error
    # Windows has no such modes: there a file in the home folder is its owner's.
    if os.name != "nt" and stat.S_IMODE(mode) & _OTHERS:
        raise ConfigError(
            f"the key {path} can be read by others (mode {stat.S_IMODE(mode):04o}). "
            f"Run `chmod 600 {path}`, and replace your credentials if someone may have seen it."
        )
    return _key(text, str(path))


def need_key(environ: Mapping[str, str], home: Path) -> SealingKey:
    """The key, made now if there is none."""
    return find_key(environ, home) or _make(key_file(home), environ, home)


def _make(path: Path, environ: Mapping[str, str], home: Path) -> SealingKey:
    """Write a new key. Of two processes that try, the first one's is used by both."""
    beside = path.with_name(f".key-{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        _write(beside, urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)) + b"\n")
        with suppress(FileExistsError):
            os.link(beside, path)
        beside.unlink()
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise ConfigError(
            f"cannot write the key {path}: {os_reason(error)}. Set ${KEY_VARIABLE} instead."
        ) from error
    made = find_key(environ, home)
    assert made is not None
    return made


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with open(handle, "wb") as file:
        file.write(data)
        file.flush()
        # Credentials sealed with a key that a power cut took away could never be opened.
        os.fsync(file.fileno())


def _key(text: str, source: str) -> SealingKey:
    standard = text.strip().replace("-", "+").replace("_", "/")
    try:
        secret = b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except ValueError:
        secret = b""
    if len(secret) != KEY_BYTES:
        raise ConfigError(
            f"{source} is not a key: a key is {KEY_BYTES} bytes in base64 (44 characters). "
            "`openssl rand -base64 32` makes one."
        )
    return SealingKey(secret, source)
