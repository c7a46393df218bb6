"""Which version of each credential was the newest that this user has had on this machine.

Whoever can write the database can put back what it held earlier, and an old sealed credential is as
genuine as the newest. So the newest version is remembered where a writer of the database does not
reach: in the process, and in a file beside the key. Knows no key and no value.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

import msgspec

from anew.credentials.key import key_file
from anew.errors import ConfigError
from anew.files import PRIVATE_FILE, PRIVATE_FOLDER, open_private
from anew.posix import lock

# Names and numbers only: this is some ten thousand credentials.
SEEN_BYTES_MAX = 1024 * 1024
_LOG = logging.getLogger(__name__)

# By the place of the database, that noted last at the end; then by name.
_Versions: TypeAlias = dict[str, dict[str, int]]


def seen_file(home: Path) -> Path:
    """Where versions are remembered."""
    return key_file(home).with_name("seen.json")


class SeenVersions:
    """The newest versions for one database. Without a place, for this process only."""

    def __init__(self, home: Path, place: str | None = None) -> None:
        self._file = seen_file(home)
        self._place = None if place is None else _identity(place)
        self._own: dict[str, int] = {}

    def newest(self, name: str) -> int:
        """The newest version of this credential; 0 when none was ever seen."""
        kept = 0 if self._place is None else _read(self._file).get(self._place, {}).get(name, 0)
        return max(kept, self._own.get(name, 0))

    def next_version(self, name: str, now: int) -> int:
        """That of a credential sealed now: a moment, and later than every other."""
        return max(now, self.newest(name) + 1)

    def check(self, name: str, version: int) -> None:
        """Remember a version that was opened; ConfigError when there was a newer one."""
        newest = self.newest(name)
        if version < newest:
            raise ConfigError(
                f"the credential {name!r} in the store is older ({_shown(version)}) than one that "
                f"was there before or was removed ({_shown(newest)}): an old database was "
                "restored, or somebody has put an old value back. "
                f"Add it again: `anew credential add {name} --file FILE`."
            )
        if version > newest:
            self.note(name, version)

    def note_removed(self, name: str, now: int) -> None:
        """From now on none that there was is taken for this credential."""
        self.note(name, self.next_version(name, now))

    def note(self, name: str, version: int) -> None:
        """From now on nothing older is taken for this credential."""
        self._own[name] = max(version, self._own.get(name, 0))
        if self._place is None:
            return
        try:
            with _alone(self._file):
                kept = _read(self._file)
                of_place = kept.pop(self._place, {})
                of_place[name] = max(version, of_place.get(name, 0))
                kept[self._place] = of_place
                _write(self._file, _shortened(kept))
        except OSError as error:
            # A home folder that cannot be written, as in containers: this process remembers.
            _LOG.info("cannot remember credentials in %s: %s", self._file, error)


def _identity(place: str) -> str:
    """The place of a database without who asks for it; a path is absolute already."""
    if "://" not in place:
        return place
    parts = urlsplit(place)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path.rstrip('/')}"


def _read(path: Path) -> _Versions:
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    try:
        return msgspec.json.decode(data, type=_Versions)
    except msgspec.DecodeError:
        raise ConfigError(
            f"{path}, which remembers the newest versions of credentials, is damaged. Remove it, "
            "and add your credentials again if someone else may have changed the database."
        ) from None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Of several processes one at a time reads and writes."""
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    handle = open_private(path.with_suffix(".lock"))
    try:
        lock(handle, waits=True)
        yield
    finally:
        os.close(handle)


def _shortened(versions: _Versions) -> bytes:
    """As much as the file may hold. A file that is full must not stop a run.

    Database files that are gone are forgotten first, then what was noted longest ago.
    """
    data = _encoded(versions)
    if len(data) <= SEEN_BYTES_MAX:
        return data
    kept = {
        place: each for place, each in versions.items() if "://" in place or os.path.lexists(place)
    }
    while len(data := _encoded(kept)) > SEEN_BYTES_MAX and kept:
        # Several at once, so that the next ones have room.
        for place in list(islice(kept, 1 + len(kept) // 8)):
            del kept[place]
    _LOG.warning(
        "the file that remembers how new credentials are is full (SEEN_BYTES_MAX): "
        "databases forgotten: %d",
        len(versions) - len(kept),
    )
    return data


def _encoded(versions: _Versions) -> bytes:
    return msgspec.json.format(msgspec.json.encode(versions)) + b"\n"


def _write(path: Path, data: bytes) -> None:
    """All of it or nothing: a power cut must not leave half a file."""
    beside = path.with_name(f".seen-{secrets.token_hex(8)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise


def _shown(version: int) -> str:
    if not version:
        return "sealed by an earlier version of Anew"
    return f"of {datetime.fromtimestamp(version / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC"
