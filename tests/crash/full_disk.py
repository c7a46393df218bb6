"""A disk that fills up: after so many writes, SQLite is told that no space is left."""

from __future__ import annotations

from typing import Any

import apsw

_BASE = "unix"


class _Disk(apsw.VFS):
    def __init__(self, writes: int) -> None:
        super().__init__("filling", _BASE, makedefault=True)
        self.writes_left = writes

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: _Disk, name: Any, flags: list[int]) -> None:
        super().__init__(_BASE, name, flags)
        self._disk = disk

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self._disk.writes_left -= 1
        if self._disk.writes_left < 0:
            raise apsw.FullError("no space left on the device")
        super().xWrite(data, offset)


_installed: list[_Disk] = []


def fill_after(writes: int) -> None:
    """From now on this process has a disk that takes so many writes."""
    _installed.append(_Disk(writes))
