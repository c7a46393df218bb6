"""Files of our own: made for the eyes of one user, and missed when someone takes them away.

A file that is opened stays readable and writable after it was removed or replaced; what is written
to it then, nobody ever finds. Knows names, inodes and modes. Does not know what files hold.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path

from anew.kernel import file_look
from anew.posix import NO_LINK, NO_WAIT, NOT_INHERITED, set_mode, user_id

_LOG = logging.getLogger(__name__)

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_making = threading.Lock()


class NotOurs(OSError):
    """Something lies under the name of a file of ours that we did not put there."""

    def __init__(self, path: str, found: str) -> None:
        super().__init__(f"{path} is {found}")
        self.path = path
        self.found = found


class KeptFile:
    """A file under its own name, as it was when this was made (or as `found` tells).

    `shrinks_to`: so many bytes it may be cut back to. One that is smaller and was not before was
    truncated; without it, none may shrink, unless whoever knows what it holds accepts that.
    """

    __slots__ = ("_bytes", "_device", "_inode", "_name", "_shrinks_to", "path")

    def __init__(
        self, path: str, *, shrinks_to: int = sys.maxsize, found: os.stat_result | None = None
    ) -> None:
        found = found or os.lstat(path)
        self.path = path
        self._name = os.fsencode(path)
        self._device, self._inode = found.st_dev, found.st_ino
        self._shrinks_to = shrinks_to
        self._bytes = min(found.st_size, shrinks_to)

    def is_kept(self) -> bool:
        """Whether it is still there."""
        return KeptFile.are_kept((self,))

    @staticmethod
    def are_kept(files: tuple[KeptFile, ...]) -> bool:
        """Whether all are still there. Every commit asks: a system call each, and little more."""
        look = file_look()
        try:
            for one in files:
                device, inode, size = look(one._name)
                if inode != one._inode or device != one._device:
                    return False
                known = one._bytes
                if size < known:
                    return False
                if size > known:
                    one._bytes = min(size, one._shrinks_to)
        except OSError:
            return False
        return True

    def accept_size(self) -> None:
        """That it became shorter is well."""
        with suppress(OSError):  # that it is gone is noticed when someone asks
            self._bytes = min(os.lstat(self.path).st_size, self._shrinks_to)

    def note_size(self) -> None:
        """Something may have been written to it. What is not empty now must not become so."""
        if not self._bytes:
            self.accept_size()

    def has_shrunk(self) -> bool:
        """Whether it is the same file and only shorter."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return False
        is_same = (found.st_dev, found.st_ino) == (self._device, self._inode)
        return is_same and found.st_size < self._bytes

    def loss(self) -> str:
        """What became of it, for a sentence that begins with its name."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return "was removed or renamed"
        if stat.S_ISLNK(found.st_mode):
            return "was replaced by a link"
        if (found.st_dev, found.st_ino) != (self._device, self._inode):
            return "was replaced by another file"
        return "was truncated"


def os_reason(error: OSError) -> str:
    """What the system says of it, to stand inside a sentence."""
    return (error.strerror or str(error)).lower()


def open_private(path: str | Path) -> int:
    """A descriptor to read and write a file that only this user may; it is made if there is none.

    One of this user's that others may use is taken from them.
    NotOurs when the name leads elsewhere: to a link, a pipe, or a file with another name as well.
    """
    where = os.fspath(path)
    # NO_WAIT: a pipe someone put there must not keep us waiting. It changes nothing for files.
    flags = os.O_RDWR | NOT_INHERITED | NO_LINK | NO_WAIT
    while True:
        refuse_strangers(where)
        try:
            fd = os.open(where, flags | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        except FileExistsError:
            try:
                fd = os.open(where, flags)
            except FileNotFoundError:
                continue  # someone removed it meanwhile
        else:
            set_mode(fd, PRIVATE_FILE)  # whatever the umask says
            return fd
        problem = _strangeness(os.fstat(fd))
        if problem is not None:
            os.close(fd)
            raise NotOurs(where, problem)
        take_from_others(where)
        return fd


def take_from_others(path: str) -> None:
    """Let nobody but this user read or write a file of theirs, such as an earlier version made.

    That of another user stays as it is. By its name: to close a file gives up its locks.
    """
    try:
        if others_may_use(path) and os.lstat(path).st_uid == user_id():
            os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & PRIVATE_FOLDER)
    except FileNotFoundError:
        pass
    except OSError as error:
        reason = os_reason(error)
        _LOG.warning("others may use %s, and that cannot be changed (%s)", path, reason)


def others_may_use(path: str | Path) -> bool:
    """Whether the mode of a file lets anybody else in."""
    found = os.lstat(path)
    return stat.S_ISREG(found.st_mode) and bool(found.st_mode & 0o077)


def refuse_strangers(path: str) -> None:
    """NotOurs when something lies there that is no plain file with this one name."""
    try:
        problem = _strangeness(os.lstat(path))
    except FileNotFoundError:
        return
    if problem is not None:
        raise NotOurs(path, problem)


def _strangeness(found: os.stat_result) -> str | None:
    if stat.S_ISLNK(found.st_mode):
        return "a link"
    if not stat.S_ISREG(found.st_mode):
        return "no plain file"
    return "a file that has another name as well" if found.st_nlink > 1 else None


def make_private_folder(folder: Path) -> None:
    """Make a folder that only this user may enter, or find that it is one.

    NotOurs when it is a link, belongs to someone else, or others may enter it.
    """
    try:
        os.mkdir(folder, PRIVATE_FOLDER)
    except FileExistsError:
        found = os.lstat(folder)
        if stat.S_ISLNK(found.st_mode):
            raise NotOurs(str(folder), "a link") from None
        if not stat.S_ISDIR(found.st_mode):
            raise NotOurs(str(folder), "no folder") from None
        if found.st_uid != user_id():
            raise NotOurs(str(folder), "a folder of another user") from None
        if found.st_mode & 0o077:
            raise NotOurs(str(folder), "a folder that others may enter") from None
    else:
        os.chmod(folder, PRIVATE_FOLDER)  # whatever the umask says


def make_scratch(folder: Path) -> None:
    """Make the folder of a run, for this user alone; NotOurs when someone else put one there."""
    folder.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    try:
        make_private_folder(folder)
    except NotOurs:
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != user_id():
            raise
        os.chmod(folder, PRIVATE_FOLDER)  # made by a version that left that to the umask


def make_private_file(path: Path) -> None:
    """Make an empty file for this user alone, unless there is one; NotOurs when that is a trap.

    One thread at a time: to close a file gives up all locks on it that this process has, those of a
    call beside this one too.
    """
    with _making:
        refuse_strangers(str(path))
        if not path.exists():
            os.close(open_private(path))


def read_regular(path: str | Path, most: int) -> bytes:
    """Up to `most` bytes of a file that somebody named; OSError for what is no plain file."""
    with open(path, "rb", opener=open_regular) as stream:
        return stream.read(most)


def open_regular(path: str | Path, flags: int) -> int:
    """An `opener` for a file that somebody named; OSError for what is no plain file."""
    # Opening a pipe waits for someone at its other end, unless one says not to.
    opened = os.open(path, flags | NO_WAIT | NOT_INHERITED, 0o666)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EINVAL, "it is not a file")
    return opened
