"""Who owns a database file: one process at a time, by a lock that dies with it.

Beside `anew.db` lie `anew.db.lock`, held by the owner, and a socket on which it takes orders from
other terminals. A socket's path may not be long, so a long one moves to a private folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from pathlib import Path
from types import TracebackType

from anew.errors import ConfigError
from anew.store import StoreError

# sockaddr_un has room for 108 bytes on Linux and 104 on macOS, one of them for the end.
SOCKET_PATH_BYTES_MAX = 100


class Owned(StoreError):
    """Another process owns the file."""


class Ownership:
    """Held from creation until `release`, or until the process dies."""

    def __init__(self, database: Path) -> None:
        path = _lock_path(database)
        try:
            self._file = open(path, "a+", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise StoreError(
                f"{path} cannot be opened ({(error.strerror or str(error)).lower()}). "
                "Choose another place with `--db` or ANEW_DB."
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = self._owner()
            self._file.close()
            raise Owned(f"{database} is in use by process {owner or 'unknown'}") from error
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def _owner(self) -> str:
        self._file.seek(0)
        return self._file.read(20).strip()

    def release(self) -> None:
        self._file.close()

    def __enter__(self) -> Ownership:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def is_owned(database: Path) -> bool:
    """Whether some process owns the file right now. Looks only, and writes nothing."""
    try:
        with open(_lock_path(database), encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock_path(database: Path) -> Path:
    """Beside the file itself, whatever links lead to it."""
    return Path(f"{database.resolve()}.lock")


def socket_path(database: Path) -> Path:
    """Where the owner of this file listens."""
    beside = Path(f"{database.resolve()}.sock")
    if len(os.fsencode(beside)) <= SOCKET_PATH_BYTES_MAX:
        return beside
    name = hashlib.sha256(os.fsencode(beside)).hexdigest()[:32]
    return _private_folder() / f"{name}.sock"


def _private_folder() -> Path:
    # The same for all processes of a user, and short, wherever $TMPDIR of one of them points.
    folder = Path("/tmp") / f"anew-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if found.st_uid != os.getuid() or not is_private:
        raise ConfigError(f"{folder} must be a folder of your own that nobody else may enter")
    return folder
