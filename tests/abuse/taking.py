"""Ways to take a file away from a process that has it open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(f"{path}.moved")


def replace(path: Path) -> None:
    """As an editor, a sync client or a restored backup does: the same bytes, another file."""
    other = Path(f"{path}.new")
    shutil.copy(path, other)
    os.replace(other, path)


def link(path: Path) -> None:
    """Move it away, and leave a link to where it is now."""
    path.rename(f"{path}.moved")
    path.symlink_to(f"{path}.moved")


def empty(path: Path) -> None:
    os.truncate(path, 0)


DEEDS: tuple[Callable[[Path], None], ...] = (remove, rename, replace, link, empty)


def beside(database: Path, name: str) -> Path:
    """One of the files of a database."""
    return {
        "database": database,
        "log": Path(f"{database}-wal"),
        "index": Path(f"{database}-shm"),
        "lock": Path(f"{database}.lock"),
        "folder": database.parent,
    }[name]
