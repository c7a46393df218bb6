"""Which folders the operator lets tasks read and change, and that none of them endangers our own.

Whoever can write a folder can rename what is in it, and put something else under its name: a
journal that SQLite would play back, or a database with other runs. So no task may change a folder
that holds the database, or one above it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from anew.errors import ConfigError
from anew.tools.sandbox.mounts import is_too_wide
from anew.tools.sandbox.sandbox import Account, Sandbox, SandboxKind

_ELSEWHERE = "Put the database elsewhere with `--db` or ANEW_DB"


def places_set(name: str, kind: SandboxKind) -> tuple[Path, ...]:
    """The folders and files of a setting; ConfigError when one cannot be meant."""
    said = [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()]
    if said and kind != "bubblewrap":
        raise ConfigError(f"{name} is for ANEW_SANDBOX=bubblewrap. Unset it: modes of files count.")
    return tuple(_place(name, word) for word in said)


def _place(name: str, said: str) -> Path:
    path = Path(said)
    if not path.is_absolute() or not path.exists():
        raise ConfigError(
            f"{name} names {said}, which is not the absolute path of something that exists"
        )
    if path.resolve() == Path("/"):
        raise ConfigError(f"{name} names {said}, which is everything. Name what tasks need.")
    return path.resolve()


def check_places(sandbox: Sandbox) -> None:
    """ConfigError when a task could change a folder that our own files lie in."""
    for place in sandbox.writable:
        if is_too_wide(place, home=Path.home()):
            raise ConfigError(
                f"ANEW_SANDBOX_WRITE names {place}, which holds homes or temporary files of "
                "everyone. Name a folder below it."
            )
        for kept in sandbox.hidden:
            if kept.resolve().is_relative_to(place):
                raise ConfigError(
                    f"ANEW_SANDBOX_WRITE names {place}, where tasks could replace {kept}. "
                    f"{_ELSEWHERE}, or name a folder that does not hold it."
                )
    if sandbox.kind == "user" and sandbox.account is not None:
        _check_modes(sandbox.hidden, sandbox.account)


def _check_modes(hidden: tuple[Path, ...], account: Account) -> None:
    for kept in hidden:
        for folder, inner in _above(kept.resolve()):
            if _may_change(folder, inner, account):
                raise ConfigError(
                    f"the user {account.name} of ANEW_SANDBOX_USER may write the folder {folder}, "
                    f"and so replace {kept}. {_ELSEWHERE}, or close the folder to that user."
                )


def _above(kept: Path) -> Iterator[tuple[Path, Path | None]]:
    """Each folder that is there, and what in it must stay; None where nothing may be added."""
    if kept.is_dir():
        yield kept, None
    yield kept.parent, kept if kept.is_dir() else None
    yield from zip(kept.parent.parents, (kept.parent, *kept.parent.parents), strict=False)


def _may_change(folder: Path, inner: Path | None, account: Account) -> bool:
    """Whether the user may add files, or (with `inner`) put something in the place of one."""
    if not folder.is_dir():
        return False
    found = folder.stat()
    if found.st_uid == account.uid:
        return True  # its owner can always change the mode
    bit = stat.S_IWGRP if found.st_gid == account.gid else stat.S_IWOTH
    if not found.st_mode & bit:
        return False
    # In a folder like /tmp, only the owner of a file may rename it.
    is_kept = inner is not None and inner.exists() and inner.stat().st_uid != account.uid
    return not (is_kept and found.st_mode & stat.S_ISVTX)
