"""Reading the files a user names, with an answer for each way in which that can fail."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from anew.errors import ConfigError

STANDARD_INPUT = "-"

# Far above the document limit, which `languages` enforces with a located error. This one only
# keeps an endless file (/dev/zero, a pipe) from filling the memory.
READ_BYTES_MAX = 16 * 1024 * 1024

# Standard input can be read once.
_READ: list[TextIO] = []


def shown_name(path: str) -> str:
    """The name of a document in messages."""
    return "<stdin>" if path == STANDARD_INPUT else path


def read_document(path: str) -> bytes:
    """The bytes of a file, or of standard input for `-`; ConfigError when they cannot be had."""
    try:
        if path == STANDARD_INPUT:
            return _standard_input()
        with open(path, "rb") as file:
            return _whole(file.read(READ_BYTES_MAX + 1), path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {shown_name(path)}: {_reason(error)}") from error


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise ConfigError("cannot read <stdin>: it is closed")
    if sys.stdin in _READ:
        raise ConfigError("standard input is named twice, and can be read only once")
    _READ.append(sys.stdin)
    return _whole(sys.stdin.buffer.read(READ_BYTES_MAX + 1), STANDARD_INPUT)


def _whole(data: bytes, path: str) -> bytes:
    if len(data) > READ_BYTES_MAX:
        raise ConfigError(f"{shown_name(path)} is larger than {READ_BYTES_MAX:,} bytes")
    return data


def write_document(path: str, text: str) -> None:
    """Write a file as UTF-8, its line ends as they are; ConfigError when that fails."""
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot write {path}: {_reason(error)}") from error


def replace_document(path: str, text: str) -> None:
    """Like `write_document`, but the file has its old content until it has all of the new."""
    from shutil import copymode
    from tempfile import mkstemp

    target = os.path.realpath(path)
    try:
        handle, beside = mkstemp(dir=os.path.dirname(target), prefix=".anew-")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {_reason(error)}") from error
    os.close(handle)
    try:
        write_document(beside, text)
        copymode(target, beside)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _reason(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case IsADirectoryError():
            return "it is a directory"
        case PermissionError():
            return "permission denied"
        case OSError(strerror=str() as said):
            return said.lower()
        case _:
            return str(error)
