"""A file of ours is missed when it is not where it was."""

from __future__ import annotations

from pathlib import Path

from anew.files import KeptFile


def test_a_file_that_is_cut_back_to_what_it_may_be_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(bytes(100))
    kept = KeptFile(str(path), shrinks_to=50)
    path.write_bytes(bytes(50))
    assert kept.is_kept()
    path.write_bytes(bytes(49))
    assert not kept.is_kept()
    assert kept.loss() == "was truncated"


def test_a_file_that_was_written_to_is_not_empty_any_more(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    kept = KeptFile(str(path))
    kept.note_size()
    assert kept.is_kept()  # nothing was written
    path.write_bytes(b"x")
    kept.note_size()
    path.write_bytes(b"")
    assert not kept.is_kept()


def test_a_file_that_goes_while_it_is_written_to_is_missed_by_whoever_asks(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    kept = KeptFile(str(path))
    path.unlink()
    kept.note_size()
    assert not kept.is_kept()
    assert kept.loss() == "was removed or renamed"
