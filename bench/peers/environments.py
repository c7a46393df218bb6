"""Make a peer's virtual environment, once, under `build/peers/`.

A peer that cannot be had is a side with a reason, never an error: there may be no index to ask.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.durable.contest import ROOT, Side

HERE = Path(__file__).parent
CONSTRAINTS = HERE / "constraints.txt"
INSTALL_SECONDS_MAX = 300


def peer(package: str, title: str, *needs: str) -> Side:
    """The side whose script is `<package>_side.py`, with its version in its name.

    `needs` are packages that it can use and does not bring.
    """
    folder = ROOT / "build" / "peers" / package
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    pins = CONSTRAINTS.read_text(encoding="utf-8")
    if not ready.exists() or ready.read_text(encoding="utf-8") != pins:
        problem = _install(package, folder, needs)
        if problem is not None:
            return Side(title, reason=f"not installed: {problem}")
        ready.write_text(pins, encoding="utf-8")
    script = HERE / f"{package}_side.py"
    return Side(f"{title} {_version(package, pins)}", (str(python), str(script)))


def _install(package: str, folder: Path, needs: Sequence[str]) -> str | None:
    """What went wrong, in a line; None when it is there."""
    print(f"installing {package} into {folder.relative_to(ROOT)}, once", file=sys.stderr)
    pip = [str(folder / "bin" / "python"), "-m", "pip"]
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [*pip, "install", "--quiet", "--constraint", str(CONSTRAINTS), package, *needs],
    )
    for command in commands:
        try:
            done = subprocess.run(
                command, check=False, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX
            )
        except subprocess.TimeoutExpired:
            return f"it took longer than {INSTALL_SECONDS_MAX} s"
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
    return None


def _version(package: str, pins: str) -> str:
    return next(line.partition("==")[2] for line in pins.splitlines() if line.startswith(package))
