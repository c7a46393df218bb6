"""A shelf of recorded runs, and a command called as `main` calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anew.surfaces.cli import main as front
from anew.surfaces.cli.command_table import Command
from tests.surfaces.cli.recorded import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


class Told:
    """What a command printed, and how it ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture
def anew(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    """Call one command with the shelf as its database."""
    monkeypatch.setenv("ANEW_DB", shelf.url)
    monkeypatch.delenv("ANEW_SERVER", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")

    def call(word: str, *words: str) -> Told:
        command = Command(word, f"anew.surfaces.cli.{word}", "")
        monkeypatch.setattr(front, "COMMANDS", (command,))
        capsys.readouterr()
        status = front.main([word, *words])
        captured = capsys.readouterr()
        return Told(status, captured.out, captured.err)

    return call
