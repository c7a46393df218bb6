"""One sandbox: turns the command of a task into one that runs it with less.

What a task keeps is in the docs, and tested there. The command stays one process group, and dies
with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from anew.files import make_scratch
from anew.tools.inputs import BadInput
from anew.tools.sandbox.limits import SandboxLimits
from anew.tools.sandbox.mounts import is_out_of_sight, is_too_wide, mounts

SandboxKind: TypeAlias = Literal["none", "bubblewrap", "user"]

_NAMESPACES = (
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
)
# What becoming another user in that user's folder takes; it is gone once that is done.
_BECOMING = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH")
_EVERYTHING = "-all"
# In the scratch folder of a run: what its tasks may change. All beside it is ours.
_TASKS_FOLDER = "tasks"


class NotInSandbox(BadInput):
    """Something that a sandbox cannot give to a task; the text is fit for the author."""


class Account(Struct, frozen=True):
    """The user tasks run as."""

    name: str
    uid: int
    gid: int

    def arguments(self) -> list[str]:
        """For `setpriv`: no way back, and no way up through set-uid programs."""
        return [
            f"--reuid={self.uid}",
            f"--regid={self.gid}",
            "--clear-groups",
            "--no-new-privs",
            f"--inh-caps={_EVERYTHING}",
            f"--bounding-set={_EVERYTHING}",
        ]


class Sandbox(Struct, frozen=True):
    """`hidden` are files and folders of ours that no task sees in a namespace.

    `shown` and `writable` are what the operator lets tasks read and change besides. `programs` are
    the paths of those that make it, looked up once, by us: a task has a say in its own PATH.
    """

    kind: SandboxKind = "none"
    account: Account | None = None
    limits: SandboxLimits = SandboxLimits()
    has_network: bool = True
    hidden: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    programs: Mapping[str, str] = {}

    @property
    def is_on(self) -> bool:
        return self.kind != "none"

    @property
    def has_mounts(self) -> bool:
        """Whether tasks see a file system of their own, with the folders that are given to them."""
        return self.kind == "bubblewrap"

    @property
    def wrappers(self) -> int:
        """Processes between the one that is started and the task's: bwrap stays, twice."""
        return 2 if self.kind == "bubblewrap" else 0

    def wrap(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        writable: Sequence[Path] = (),
        cwd: Path | None = None,
    ) -> list[str]:
        """The command to start instead; NotInSandbox when its folders cannot be given to it.

        `folder` is what the task may read, `writable` what it may change, `cwd` where it starts (in
        `folder` unless said). It must be started with an environment of ours: see `Room`.
        """
        if not self.is_on:
            return list(command)
        inner = [self.programs["prlimit"], *self.limits.arguments(), "--", *command]
        if self.account is not None:
            inner = [self.programs["setpriv"], *self.account.arguments(), "--", *inner]
        if self.kind == "user":
            return inner
        start = str((cwd or folder).resolve())
        return [*self._namespace(folder, writable), "--chdir", start, "--", *inner]

    def tasks_folder(self, scratch: Path) -> Path:
        """The folder in that of a run which its tasks may change; it is made with the first."""
        folder = folder_of_tasks(scratch)
        if not folder.is_dir():
            make_scratch(scratch)
            folder.mkdir(mode=0o700, exist_ok=True)
        if self.account is not None and folder.stat().st_uid != self.account.uid:
            self.give(folder, below=scratch)
        return folder

    def give(self, folder: Path, *, below: Path) -> None:
        """Let a task have a folder that we made for it alone, and the files we put into it.

        The folders above it, up to `below`, stay ours: it may pass through them and no more. In
        one that it could change, a link could lead us anywhere when we write the next file.
        """
        if self.account is None:
            return
        if self.kind == "user" and (closed := _closed_above(below)) is not None:
            raise NotInSandbox(
                f"the user {self.account.name} of the sandbox cannot enter {closed}, where "
                "files of runs are kept. Put the database where that user may enter."
            )
        for above in folder.parents:
            if above.is_relative_to(below):
                above.chmod(0o711)
        for path in (*folder.iterdir(), folder):
            os.chown(path, self.account.uid, self.account.gid, follow_symlinks=False)

    def __str__(self) -> str:
        if not self.is_on:
            return "none: tasks can reach what you can"
        network = "with network" if self.has_network else "no network"
        parts = [self.kind, *([] if self.account is None else [f"as {self.account.name}"]), network]
        return ", ".join(parts)

    def _namespace(self, folder: Path, writable: Sequence[Path]) -> list[str]:
        home = Path.home()
        places = (*writable, *self.writable)
        if not any(folder.is_relative_to(place) for place in places):
            _check_folder(folder, home=home)
        words = [self.programs["bwrap"], *_NAMESPACES]
        words += [] if self.has_network else ["--unshare-net"]
        if self.account is None:
            words += ["--unshare-user"]
        else:
            words += [word for name in _BECOMING for word in ("--cap-add", name)]
        return words + mounts(
            home=home,
            folder=folder,
            writable=places,
            shown=self.shown,
            hidden=self.hidden,
            has_network=self.has_network,
        )


NO_SANDBOX = Sandbox()


def folder_of_tasks(scratch: Path) -> Path:
    """What tasks of a run may change, by the scratch folder of the run."""
    return scratch / _TASKS_FOLDER


def _check_folder(folder: Path, *, home: Path) -> None:
    if is_too_wide(folder, home=home):
        raise NotInSandbox(
            f"the document is in {folder}, which holds more than a task in a sandbox may see. "
            "Move it into a folder of its own."
        )
    if is_out_of_sight(folder, home=home):
        raise NotInSandbox(
            f"the document is in {folder}, a hidden folder of a home, which no task in a sandbox "
            "may see. Move it into a folder whose name does not start with a dot."
        )


def _closed_above(folder: Path) -> Path | None:
    """The outermost folder above that is closed to others."""
    above = reversed(folder.resolve().parents)
    return next((path for path in above if not path.stat().st_mode & 0o001), None)
