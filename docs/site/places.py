"""Where each file of the project lies in the site.

Knows paths only. Everything is reached by relative addresses, so that the site works under any base
path and straight from a disk.
"""

from __future__ import annotations

import os.path
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent.parent
START = PurePosixPath("docs/index.md")
PICTURES = frozenset({".svg", ".png"})
# What is not part of the documentation keeps its path in a folder of its own.
_ELSEWHERE = "project"
_DOCS = "docs"


def place(source: PurePosixPath) -> PurePosixPath:
    """The file of the site that shows this file or folder of the project."""
    is_docs = source.parts[:1] == (_DOCS,)
    path = source.relative_to(_DOCS) if is_docs else _ELSEWHERE / source
    if path.suffix in PICTURES:
        return path
    if (ROOT / source).is_dir():
        return path / "index.html"
    name = path.stem if path.suffix == ".md" else path.name
    return path.with_name(f"{name}.html")


def way(source: PurePosixPath, target: PurePosixPath) -> str:
    """The address of one file's page on the page of another."""
    return hop(place(source), place(target))


def hop(page: PurePosixPath, target: PurePosixPath | str) -> str:
    """The address of a file of the site, on a page of it."""
    return os.path.relpath(target, page.parent)


def named(source: PurePosixPath, address: str) -> PurePosixPath | None:
    """The file of the project that a page means by a relative address; None when there is none."""
    path = PurePosixPath(os.path.normpath(source.parent / address))
    is_inside = ".." not in path.parts and not path.is_absolute()
    return path if is_inside and (ROOT / path).exists() else None
