"""What is to be written into an export, as data: whole files, lines at an end, copies.

Paths are relative, with `/` between their parts; each part is safe as a file name. Whoever applies
the changes knows the disk; nobody else here does.
"""

from __future__ import annotations

import json
from typing import TypeAlias

import msgspec
from msgspec import Struct

from anew.values import Value


class Write(Struct, frozen=True):
    """A file that is not there yet."""

    path: str
    data: bytes


class Append(Struct, frozen=True):
    """More of a file that grows."""

    path: str
    data: bytes


class Copy(Struct, frozen=True):
    """A file that was written before, under another path too."""

    path: str
    source: str


Change: TypeAlias = Write | Append | Copy


def json_data(value: Value) -> bytes:
    """JSON as a person reads it."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def line_data(value: Value) -> bytes:
    """JSON on one line, as every command prints it with `--json`."""
    return json.dumps(value).encode() + b"\n"


def text_data(text: str) -> bytes:
    """Text as a file; what UTF-8 cannot say is written as its number."""
    return text.encode("utf-8", "backslashreplace")
