"""What the kernel tells of files: the same as Python does, whichever way it is asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anew import kernel
from anew.kernel import Look, file_look

WAYS: list[Look] = [file_look(), kernel._look_with_times]


@pytest.mark.parametrize("look", WAYS)
@pytest.mark.parametrize("size", [0, 1, 5 << 30])
def test_a_file_is_known_by_device_inode_and_size(look: Look, size: int, tmp_path: Path) -> None:
    file = tmp_path / "ä file"
    with open(file, "wb") as opened:
        opened.truncate(size)
    found = os.lstat(file)
    assert look(os.fsencode(file)) == (found.st_dev, found.st_ino, size)


@pytest.mark.parametrize("look", WAYS)
def test_a_link_is_looked_at_itself(look: Look, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    found = os.lstat(tmp_path / "link")
    assert look(os.fsencode(tmp_path / "link"))[1] == found.st_ino


@pytest.mark.parametrize("look", WAYS)
def test_what_is_not_there_is_an_error(look: Look, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        look(os.fsencode(tmp_path / "nothing"))
