"""The file of a child run: where it may lie, how it is read, and how its mistakes are told.

Whoever wrote the parent need not be allowed to see the file, so nothing here quotes it. Reading
may block, and is for a thread. Knows nothing of runs.
"""

from __future__ import annotations

from pathlib import Path

from anew.errors import ConfigError, ProgramError
from anew.files import read_regular
from anew.languages.limits import document_bytes_max


def read_child(folder: Path, file: str, *, is_confined: bool) -> bytes:
    """The bytes of a child's file; ConfigError when there are none to have.

    `is_confined`: it must lie in the parent's folder or below it, as all that graphs name.
    """
    path = folder / file
    try:
        if is_confined and not path.resolve().is_relative_to(folder.resolve()):
            raise _unreadable(path, "it is outside the folder of the document that names it")
        return _regular(path)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "its path is not valid"
        raise _unreadable(path, reason[:1].lower() + reason[1:]) from None


def _regular(path: Path) -> bytes:
    most = document_bytes_max()
    data = read_regular(path, most + 1)
    if len(data) > most:
        raise _unreadable(path, f"it is larger than {most:,} bytes")
    return data


def _unreadable(path: Path, why: str) -> ConfigError:
    return ConfigError(f"the child document {path} cannot be read: {why}")


def mistakes_of_child(refused: ProgramError) -> str:
    """That a child's document has errors, and where the first is, without a word of its text."""
    if not refused.findings:
        return "the child document cannot be compiled"
    first, count = refused.findings[0], len(refused.findings)
    errors = "an error" if count == 1 else f"{count:,} errors, the first"
    place = f"line {first.place.line} ({first.rule})"
    return (
        f"the child document {first.place.file} has {errors} in {place}. "
        "`anew check` shows the details."
    )
