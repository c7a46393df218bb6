"""Who owns a database file: one process at a time, by a lock that dies with it.

Beside `anew.db` lie `anew.db.lock`, held by the owner, and a socket on which it takes orders from
other terminals. A socket's path may not be long, so a long one moves to a private folder.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from anew.errors import ConfigError
from anew.files import KeptFile, NotOurs, make_private_folder, open_private, os_reason
from anew.posix import NO_LINK, NO_WAIT, NOT_INHERITED, lock, user_id
from anew.store import StoreError, StoreGone

# In a lock that nobody holds: what an owner that died had begun is still to be taken up.
UNSETTLED = "unsettled"
# A link, or a pipe that would keep us waiting, is nothing that a lock can be.
_NO_TRAPS = NO_LINK | NO_WAIT
# sockaddr_un has room for 108 bytes on Linux and 104 on macOS, one of them for the end.
SOCKET_PATH_BYTES_MAX = 100


class Owned(StoreError):
    """Another process owns the file."""


class Ownership:
    """Held from creation until `release`, or until the process dies.

    The lock holds the number of the process that owns the file, and nothing once it stopped as it
    should. `leases_are_void`: the last owner did not, or nobody knows; whoever deals with what it
    left calls `settle`, and until then every owner hears of it. A database that is not there yet
    had no owner.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        path = _lock_path(database)
        self._fd, is_new = _locked(path, database)
        self.lock = KeptFile(str(path), shrinks_to=0, found=os.fstat(self._fd))
        self.leases_are_void = bool(_content(self._fd)) or (is_new and database.exists())
        try:
            _write(self._fd, str(os.getpid()))
        except OSError as error:
            if is_new:  # an empty one would say that the last owner stopped as it should
                path.unlink(missing_ok=True)
            os.close(self._fd)
            raise StoreError(
                f"{path} cannot be written ({os_reason(error)}). "
                "Free some space on its disk, or choose another place with `--db` or ANEW_DB."
            ) from error

    def settle(self) -> None:
        """What an owner that died had begun is taken up."""
        self.leases_are_void = False

    def check(self) -> None:
        """StoreGone once another process may own the file: the lock is not where it looks."""
        if not self.lock.is_kept():
            raise StoreGone(
                f"the lock {self.lock.path} {self.lock.loss()} while this process owned "
                f"{self._database}, and another process may own it now. This one stops. "
                "Leave the lock where it is, and start again."
            )

    def release(self) -> None:
        if self._fd >= 0:
            # What stays there if this fails says too much and never too little: "it died".
            with suppress(OSError):
                _write(self._fd, UNSETTLED if self.leases_are_void else "")
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Ownership:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _locked(path: Path, database: Path) -> tuple[int, bool]:
    """The lock as it lies there, held, and whether it is new; `Owned` when another holds it."""
    while True:
        is_new = not os.path.lexists(path)
        try:
            fd = open_private(path)
        except NotOurs as error:
            raise StoreError(
                f"{error}, and no lock of Anew's. Remove it, or choose another place with `--db` "
                "or ANEW_DB."
            ) from error
        except OSError as error:
            raise StoreError(
                f"{path} cannot be opened ({os_reason(error)}). "
                "Choose another place with `--db` or ANEW_DB."
            ) from error
        try:
            lock(fd)
        except OSError as error:
            owner = _content(fd)
            os.close(fd)
            raise Owned(f"{database} is in use by process {owner or 'unknown'}") from error
        if KeptFile(str(path), shrinks_to=0, found=os.fstat(fd)).is_kept():
            return fd, is_new
        os.close(fd)  # it was replaced before it was held


def _content(fd: int) -> str:
    return os.pread(fd, 20, 0).decode("ascii", "replace").strip()


def _write(fd: int, content: str) -> None:
    """Never empty in between: a disk that is full must not say that all is well."""
    written = os.pwrite(fd, content.encode(), 0)
    if written < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.ftruncate(fd, written)


def is_owned(database: Path) -> bool:
    """Whether some process owns the file right now. Looks only, and writes nothing."""
    try:
        fd = os.open(_lock_path(database), os.O_RDONLY | NOT_INHERITED | _NO_TRAPS)
    except OSError:
        return False
    try:
        lock(fd, is_shared=True)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def dead_owner(database: Path) -> int | None:
    """The process that owned the file last and did not stop as it should; None if none is known.

    For a file that no process owns right now.
    """
    try:
        content = _lock_path(database).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
    return int(content) if content.isdecimal() and not is_owned(database) else None


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
    folder = Path("/tmp") / f"anew-{user_id()}"
    try:
        make_private_folder(folder)
    except NotOurs as error:
        raise ConfigError(
            f"{error}; it must be a folder of your own that nobody else may enter. Remove it, or "
            "choose a shorter path for the database."
        ) from error
    return folder


def check_socket(path: Path, database: Path) -> None:
    """ConfigError when what lies there is no socket of whom the database belongs to.

    Orders hold workloads and credentials: nobody else is to hear them.
    """
    try:
        found = path.lstat()
        owners = {user_id(), database.stat().st_uid}
    except OSError:
        return  # nobody listens
    if not stat.S_ISSOCK(found.st_mode):
        raise ConfigError(f"{path} is not a socket of Anew. Move it away.")
    if found.st_uid not in owners:
        raise ConfigError(
            f"the socket {path} belongs to another user than {database} does. Remove it."
        )
