"""The place of one task in a sandbox: its folders, and how its variables get there.

The programs that make a sandbox run before the task has lost any right, so nothing an author can
set may reach them: `LD_PRELOAD` alone would undo everything. They get an environment of ours, and
the task's own is read from a file in memory by the last of them, which has no rights any more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from anew.tools.sandbox.sandbox import NotInSandbox, Sandbox

# Of the programs that make the sandbox.
OUR_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
# Tells a task which folder it may change; what is there stays for the other tasks of its run.
TASKS_FOLDER_VARIABLE = "ANEW_RUN_FOLDER"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENTER = '. "$1" && shift && exec "$@"'


class Room(Struct, frozen=True):
    """A task may read `folder`, and change what is `writable`."""

    sandbox: Sandbox
    folder: Path
    writable: tuple[Path, ...] = ()

    def wrap(self, words: Sequence[str], *, cwd: Path | None, variables: int) -> list[str]:
        """The command to start, with `OUR_ENVIRONMENT` and the file of `variables`."""
        entering = ["/bin/sh", "-c", _ENTER, "sh", f"/dev/fd/{variables}", *words]
        return self.sandbox.wrap(entering, folder=self.folder, writable=self.writable, cwd=cwd)

    def variables(self, env: Mapping[str, str]) -> dict[str, str]:
        """What the task gets, and where it may write."""
        return {**env, **({TASKS_FOLDER_VARIABLE: str(self.writable[0])} if self.writable else {})}


def room_in(sandbox: Sandbox, folder: Path, scratch: Path, *given: Path) -> Room | None:
    """The place of a task in a run with this `scratch` folder; None where there is no sandbox.

    `given` are folders it may change besides.
    """
    if not sandbox.has_mounts:  # what a user may change is not for us to say
        return Room(sandbox, folder) if sandbox.is_on else None
    return Room(sandbox, folder, (sandbox.tasks_folder(scratch), *given))


def file_of_variables(env: Mapping[str, str]) -> int:
    """An open file that a shell reads them from; the caller closes it."""
    lines = "".join(f"export {_name(name)}={_quoted(value)}\n" for name, value in env.items())
    fd = os.memfd_create("variables", os.MFD_CLOEXEC)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(lines.encode("utf-8", "surrogateescape"))
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise NotInSandbox(
            f"env has the name {name!r}; in a sandbox names have letters, digits and _ only"
        )
    return name


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"
