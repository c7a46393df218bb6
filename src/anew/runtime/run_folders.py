"""Where the calls of a run happen: the folder its relative files are found in, and its scratch.

Whoever sends a document says where it lies. A sandbox shows that folder to tasks, so there it
counts only when the document really lies there: nobody opens a folder by naming it.
"""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

from anew.files import make_scratch
from anew.posix import NO_LINK, NO_WAIT, NOT_INHERITED
from anew.runtime.live_runs import LiveRun
from anew.runtime.programs import Programs
from anew.runtime.roles import ProcessRole
from anew.runtime.tool_calls import CallSite
from anew.tools.sandbox import Sandbox, folder_of_tasks


class RunFolders:
    """`scratch` holds those of all runs. On a shared database, documents may lie elsewhere."""

    def __init__(
        self, scratch: Path, programs: Programs, role: ProcessRole, sandbox: Sandbox
    ) -> None:
        self._scratch = scratch
        self._programs = programs
        self._is_shared = role.is_shared
        # Tasks see only what is given to them.
        self._has_mounts = sandbox.has_mounts

    async def of(self, live: LiveRun) -> CallSite:
        if live.scratch is None:
            scratch = self._scratch / str(live.id)
            found = await self._document_folder(live)
            live.is_elsewhere = found is None
            live.working = found or (folder_of_tasks(scratch) if self._has_mounts else scratch)
            live.scratch = scratch
        if live.is_elsewhere:
            make_scratch(live.scratch)
            live.working.mkdir(mode=0o700, exist_ok=True)
        return CallSite(str(live.id), live.program, live.working, live.scratch, live.secrets)

    async def _document_folder(self, live: LiveRun) -> Path | None:
        """None when the document is not here; so are the files it names."""
        if not self._has_mounts:
            return None if self._is_shared and not live.folder.is_dir() else live.folder
        document = await self._programs.get(live.program.digest)
        file = live.state.file or document.file
        found = await asyncio.to_thread(folder_that_holds, file, document.source)
        # A folder of another run is no document's.
        is_ours = found is not None and found.is_relative_to(self._scratch.resolve())
        return None if is_ours else found


def folder_that_holds(file: str, source: str) -> Path | None:
    """The real folder of a plain file with exactly this text; None when there is no such file."""
    if not os.path.isabs(file):
        return None
    expected = source.encode()
    try:
        real = Path(file).resolve()
        fd = os.open(real, os.O_RDONLY | NO_LINK | NO_WAIT | NOT_INHERITED)
    except (OSError, ValueError, RuntimeError):
        return None
    with open(fd, "rb") as opened:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(expected):
            return None
        return real.parent if opened.read(len(expected) + 1) == expected else None
