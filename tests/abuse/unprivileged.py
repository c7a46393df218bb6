"""Run a program as a user who may not read every process, whoever runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

NOBODY = 65534


@contextmanager
def folder_for_nobody() -> Iterator[Path]:
    """Not below the folder of pytest, which each session closes to other users again."""
    with TemporaryDirectory(prefix="anew-abuse-") as made:
        Path(made).chmod(0o777)
        yield Path(made)


def run_as_nobody(module: str, *words: str, folder: Path, **more: str) -> str:
    """What `python -m module` prints; skipped where nobody can run a Python of this version."""
    done = subprocess.run(
        [_interpreter(), "-m", module, *words],
        env=_environment() | more,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **_user(),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _user() -> dict[str, object]:
    is_root = os.geteuid() == 0
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if is_root else {}


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(path for path in [os.getcwd(), *sys.path] if path)
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": paths} | {
        "PYTHONDONTWRITEBYTECODE": "1"
    }


@cache
def _interpreter() -> str:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for found in (sys.executable, f"/usr/bin/{version}", shutil.which(version) or ""):
        try:
            words = [found, "-c", "import msgspec, anew.tools.python.tool, tests"]
            how = {"env": _environment(), "capture_output": True, **_user()}
            if subprocess.run(words, check=False, **how).returncode == 0:
                return found
        except OSError:
            continue
    pytest.skip(f"root runs the tests, and nobody can run a {version} with these packages")
