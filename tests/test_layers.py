"""Imports point down only, and the engine knows no clock, chance or I/O."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def lint_imports(directory: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter with the contracts of this project on the sources in `directory`."""
    program = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports; "
    program += "raise SystemExit(lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def copy_of_the_sources(directory: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", directory)
    shutil.copytree(ROOT / "src", directory / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return directory


def test_the_sources_keep_every_import_contract() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_an_engine_that_reads_the_clock_is_noticed(tmp_path: Path) -> None:
    directory = copy_of_the_sources(tmp_path)
    (directory / "src/anew/engine/clock_reader.py").write_text("import time\n")
    result = lint_imports(directory)
    assert result.returncode != 0
    assert "anew.engine.clock_reader -> time" in result.stdout


def test_an_import_that_points_up_is_noticed(tmp_path: Path) -> None:
    directory = copy_of_the_sources(tmp_path)
    (directory / "src/anew/program/upward.py").write_text("import anew.engine.events\n")
    result = lint_imports(directory)
    assert result.returncode != 0
    assert "anew.program.upward -> anew.engine.events" in result.stdout
