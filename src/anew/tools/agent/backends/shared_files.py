"""The files one execution of a command shares with us: its prompt, and the status it may write.

Every visit and attempt has a folder of its own, so that no file of an earlier one is read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from anew.files import make_scratch
from anew.posix import NO_WAIT, NOT_INHERITED
from anew.tool import AttemptRef
from anew.tools.agent.status import AGENT_STATUS_BYTES_MAX, BadStatus
from anew.tools.inputs import BadInput

_PLAIN_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)


class CommandFiles(Struct, frozen=True):
    prompt_file: Path
    status_file: Path

    def read_status(self) -> bytes | None:
        """What the command left in its status file; None when it wrote none."""
        try:
            # A pipe in its place must not keep us waiting.
            fd = os.open(self.status_file, os.O_RDONLY | NO_WAIT | NOT_INHERITED)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise BadStatus(f"cannot be read: {problem.strerror}") from None
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise BadStatus("is not a file")
            with open(fd, "rb", closefd=False) as file:
                data = file.read(AGENT_STATUS_BYTES_MAX + 1)
        finally:
            os.close(fd)
        if len(data) > AGENT_STATUS_BYTES_MAX:
            raise BadStatus(f"is longer than {AGENT_STATUS_BYTES_MAX:,} bytes")
        return data


def check_status(status_file: Path, *, within: Sequence[Path]) -> None:
    """Not for a program in a sandbox: have us read or remove what it cannot, by name or by link."""
    real = status_file.resolve()
    if not any(real.is_relative_to(folder.resolve()) for folder in within):
        raise BadInput(
            "status_file leads out of the folders that a task in a sandbox may change. "
            "Leave it out, and write to the file that ANEW_STATUS_FILE names"
        )


def prepare(
    place: AttemptRef, scratch: Path, *, prompt: str, status_file: Path | None
) -> CommandFiles:
    """Write the prompt down, and make sure that no status is there yet."""
    folder = scratch / "agents" / folder_name(place.step) / folder_name(place.task) / _number(place)
    files = CommandFiles(folder / "prompt.md", status_file or folder / "status.json")
    try:
        make_scratch(scratch)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The folder may be another user's, in which an earlier execution could leave a link.
        files.prompt_file.unlink(missing_ok=True)
        with open(files.prompt_file, "xb") as file:
            file.write(prompt.encode())
        # An execution that was lost may have written one; it says nothing of this one.
        files.status_file.unlink(missing_ok=True)
    except OSError as problem:
        raise BadInput(f"{problem.filename} cannot be written: {problem.strerror}") from None
    return files


def _number(place: AttemptRef) -> str:
    iteration = "" if place.iteration is None else f".i{place.iteration}"
    return f"v{place.visit}{iteration}.a{place.attempt}"


def folder_name(name: str) -> str:
    """A name of a folder for any name of a step, and another one for any other."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return "step-" + sha256(name.encode()).hexdigest()[:16]
