"""A log that stays empty was not truncated; one that was written and is empty then was."""

from __future__ import annotations

from pathlib import Path

from anew.files import KeptFile


def test_a_file_to_which_nothing_was_written_may_stay_empty(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    kept = KeptFile(str(log))
    kept.note_size()
    assert kept.is_kept()


def test_a_file_that_was_written_must_not_be_empty_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    kept = KeptFile(str(log), shrinks_to=4)
    log.write_bytes(b"a frame of it")
    kept.note_size()
    log.write_bytes(b"cut!")
    assert kept.is_kept()
    log.write_bytes(b"")
    assert not kept.is_kept()
    assert kept.loss() == "was truncated"
