"""One process owns a database file, and what belongs to the file is found by every way to it."""

import asyncio
import tempfile

import pytest

from anew.runtime.bootstrap import open_engine
from anew.runtime.ownership import (
    SOCKET_PATH_BYTES_MAX,
    Owned,
    Ownership,
    is_owned,
    socket_path,
)


def test_a_file_has_one_owner_whatever_link_leads_to_it(tmp_path):
    file, link = tmp_path / "anew.db", tmp_path / "link.db"
    link.symlink_to(file)
    with Ownership(file):
        assert is_owned(link)
        with pytest.raises(Owned):
            Ownership(link)
    assert socket_path(link) == socket_path(file)
    with Ownership(link):
        assert is_owned(file)


def test_scratch_folders_belong_to_the_file_and_not_to_its_neighbours(tmp_path):
    async def scratch(name):
        async with open_engine(str(tmp_path / name)) as engine:
            return engine.removal.scratch

    one, other = asyncio.run(scratch("one.db")), asyncio.run(scratch("other.db"))
    (tmp_path / "link.db").symlink_to(tmp_path / "one.db")
    assert one != other
    assert asyncio.run(scratch("link.db")).resolve() == one.resolve()


def test_the_socket_of_a_file_deep_in_folders_is_found_whatever_the_surroundings(
    tmp_path, monkeypatch
):
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    found = socket_path(deep / "anew.db")
    assert len(str(found)) <= SOCKET_PATH_BYTES_MAX
    monkeypatch.setenv("TMPDIR", str(deep))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert socket_path(deep / "anew.db") == found
