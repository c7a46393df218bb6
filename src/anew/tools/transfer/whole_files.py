"""Write a small file so that after any crash it is the old one or the new one, on the disk."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file by one with this content, durably."""
    draft = path.with_name(f"{path.name}.new")
    with open(draft, "wb") as file:
        file.write(content)
        sync(file.fileno())
    os.replace(draft, path)
    sync_folder(path.parent)


def sync(descriptor: int) -> None:
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
