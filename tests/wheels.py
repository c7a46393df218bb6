"""Build wheels of this tree, and install them into virtual environments of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOOK = "web/wheel_hook.py"
# What a build reads; everything else of the tree may be as it likes.
PARTS = ["pyproject.toml", "README.md", "LICENSE", "NOTICE", ".gitignore", "src", HOOK]
HATCHLING = [sys.executable, "-m", "hatchling", "build"]
WHEEL = [*HATCHLING, "-t", "wheel", "-d", "out"]
# The name of what a test has measured for people; `make test-long` prints it at its end.
STOPWATCH = "stopwatch"
# The oldest that `requires-python` allows.
MINOR_MIN = 11


def copied(folder: Path, source: Path, parts: list[str], *, without: str = "") -> Path:
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", without)
    for part in parts:
        if (source / part).is_dir():
            shutil.copytree(source / part, folder / part, ignore=ignored)
        else:
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / part, folder / part)
    return folder


def build(folder: Path, *, umask: int = 0o022, **variables: str) -> Path:
    env = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"} | variables
    done = subprocess.run(
        WHEEL, cwd=folder, env=env, umask=umask, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [wheel] = (folder / "out").glob("*.whl")
    return wheel


def pythons() -> dict[str, str]:
    """Every Python of this machine that Anew can run on, one of each minor version."""
    found = {sys.version_info.minor: sys.executable}
    # Of a Python that is one of several, as pyenv keeps them, the others lie beside it.
    for python in sorted(Path(sys.base_prefix).parent.glob("3.*/bin/python"), reverse=True):
        found.setdefault(int(python.parts[-3].split(".")[1]), str(python))
    for minor in range(MINOR_MIN, MINOR_MIN + 10):
        python = shutil.which(f"python3.{minor}")
        # A shim is there for every version that somebody manages, and starts some of them only.
        if python is not None and Path(python).parent.name != "shims":
            found.setdefault(minor, python)
    return {f"3.{minor}": found[minor] for minor in sorted(found) if minor >= MINOR_MIN}


class Installed:
    """A virtual environment with nothing but a wheel and what it needs."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        # Installing with the pip of this environment saves each of them one of its own.
        subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)

    def install(self, wheel: Path, extras: str = "") -> None:
        # As people configure pip on this machine, and with the versions the gates passed with.
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"),
                *("--python", str(self.folder / "bin/python"), "install"),
                *("-c", str(ROOT / "constraints.txt"), f"{wheel}{extras}"),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def packages(self) -> set[str]:
        found = "from importlib.metadata import distributions as d; print(*[x.name for x in d()])"
        python = [str(self.folder / "bin/python"), "-c", found]
        return set(subprocess.check_output(python, text=True).lower().split())

    def anew(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the command as a newcomer does: nothing of this tree is in sight."""
        return subprocess.run(
            ["anew", *words], cwd=cwd, env=self.surroundings(cwd),
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def surroundings(self, home: Path) -> dict[str, str]:
        path = f"{self.folder / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return {"PATH": path, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8"}


class Stopwatch:
    """How long each step of a newcomer took, to be printed."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self.lines: list[str] = []

    def split(self, what: str) -> None:
        now = time.monotonic()
        self.lines.append(f"{now - self._last:7.1f} s  {what}")
        self._last = now

    def __str__(self) -> str:
        return "\n".join([*self.lines, f"{self._last - self._began:7.1f} s  in all"])
