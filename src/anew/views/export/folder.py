"""Put an export on the disk whole, or not at all.

Everything is written into a hidden folder beside the target, which takes the target's place when it
is complete: whoever looks sees no export, the earlier one, or the new one. A target that holds
anything is left alone, unless it is an earlier export of the same run and holds nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from secrets import token_hex
from types import TracebackType
from typing import BinaryIO, Self

from anew.errors import ConfigError
from anew.files import os_reason
from anew.posix import NO_LINK
from anew.views.export.changes import Append, Change, Copy, Write
from anew.views.export.directory import FORMAT, MANIFEST

# What the export wrote, one path per line: with it a later one knows what it may replace.
FILES = "files.txt"
# A manifest is a few lines; more is none of ours.
MANIFEST_BYTES_MAX = 1024 * 1024

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK
_NAME_CHARACTERS = 60


class Folder:
    """Use it in a `with`: the block ends well, and the target is there.

    ConfigError says why a target is refused. An OSError while writing leaves the target as it was.
    """

    def __init__(self, target: str, *, run: str, replaces: bool) -> None:
        self.files = 0
        self._said = target
        self._target = os.path.abspath(target)
        self._run, self._replaces = run, replaces
        self._staging = self._beside("partial")
        self._folders: set[str] = set()
        self._growing: dict[str, BinaryIO] = {}
        self._open = ExitStack()
        self._is_replacing = False

    def __enter__(self) -> Self:
        try:
            self._is_replacing = self._refuse_what_is_there()
            os.makedirs(os.path.dirname(self._target), exist_ok=True)
            os.mkdir(self._staging)
        except OSError as error:
            raise self._refusal(f"cannot be written: {os_reason(error)}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._open.close()
            if kind is None:
                self._take_place()
        finally:
            # Moved away when all went well.
            shutil.rmtree(self._staging, ignore_errors=True)

    def apply(self, change: Change) -> None:
        """Write one thing."""
        match change:
            case Append():
                self._grown(change.path).write(change.data)
            case Write():
                with self._new(change.path) as stream:
                    stream.write(change.data)
            case Copy():
                with (
                    open(os.path.join(self._staging, change.source), "rb") as source,
                    self._new(change.path) as stream,
                ):
                    shutil.copyfileobj(source, stream)

    def _grown(self, path: str) -> BinaryIO:
        stream = self._growing.get(path)
        if stream is None:
            stream = self._growing[path] = self._open.enter_context(self._new(path))
        return stream

    def _new(self, path: str) -> BinaryIO:
        """A file that was not there; its folders are made. The list of files has it too."""
        whole = os.path.join(self._staging, *path.split("/"))
        folder = os.path.dirname(whole)
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)
        self.files += 1
        if path != FILES:
            self._grown(FILES).write(f"{path}\n".encode())
        return os.fdopen(os.open(whole, _NEW_FILE, 0o666), "wb")

    def _take_place(self) -> None:
        if not self._is_replacing:
            # Empty if it is there at all. What came to be in it meanwhile is not ours to remove.
            if os.path.isdir(self._target):
                os.rmdir(self._target)
            os.rename(self._staging, self._target)
            return
        earlier = self._beside("earlier")
        os.rename(self._target, earlier)
        try:
            os.rename(self._staging, self._target)
        except OSError:
            os.rename(earlier, self._target)
            raise
        shutil.rmtree(earlier, ignore_errors=True)

    def _refuse_what_is_there(self) -> bool:
        """Whether an earlier export is to be replaced; ConfigError when the target is in use."""
        try:
            mode = os.lstat(self._target).st_mode
        except FileNotFoundError:
            return False
        if stat.S_ISLNK(mode):
            raise self._refusal("is a symbolic link; name the folder itself")
        if not stat.S_ISDIR(mode):
            raise self._refusal("is a file; name a folder")
        if _is_within(os.getcwd(), self._target):
            raise self._refusal("is the current folder; call the command from outside of it")
        if not os.listdir(self._target):
            return False
        if not self._replaces:
            raise self._refusal(
                "is not empty; name another folder, or replace an earlier export of this run "
                "with --force"
            )
        self._refuse_what_is_not_ours()
        return True

    def _refuse_what_is_not_ours(self) -> None:
        if _exported_run(os.path.join(self._target, MANIFEST)) != self._run:
            raise self._refusal(
                f"is not an export of run {self._run}, so --force does not replace it; "
                "name another folder"
            )
        listed = os.path.join(self._target, FILES)
        known = {FILES}
        if not os.path.islink(listed) and os.path.isfile(listed):
            with open(listed, encoding="utf-8", errors="replace") as lines:
                known.update(line.rstrip("\n") for line in lines)
        for path in _files_in(self._target):
            if path not in known:
                raise self._refusal(
                    f"holds {path!r}, which no export wrote, so --force does not replace it; "
                    "move that file away"
                )

    def _refusal(self, why: str) -> ConfigError:
        return ConfigError(f"{self._said!r} {why}.")

    def _beside(self, what: str) -> str:
        parent, name = os.path.split(self._target)
        return os.path.join(parent, f".{name[:_NAME_CHARACTERS]}.{token_hex(4)}.{what}")


def _exported_run(manifest: str) -> str | None:
    """The run that a directory with this manifest is an export of; None when it is none."""
    if os.path.islink(manifest) or not os.path.isfile(manifest):
        return None
    with open(manifest, "rb") as stream:
        data = stream.read(MANIFEST_BYTES_MAX)
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return None
    is_ours = isinstance(told, dict) and told.get("format") == FORMAT
    return str(told.get("run_id")) if is_ours else None


def _files_in(folder: str) -> Iterator[str]:
    """Everything in it but folders, by its path from there. Links are told, not followed."""
    todo = [""]
    while todo:
        under = todo.pop()
        with os.scandir(os.path.join(folder, under)) as entries:
            for entry in entries:
                path = f"{under}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    todo.append(f"{path}/")
                else:
                    yield path


def _is_within(path: str, folder: str) -> bool:
    inner, outer = os.path.realpath(path), os.path.realpath(folder)
    return inner == outer or inner.startswith(f"{outer}{os.sep}")
