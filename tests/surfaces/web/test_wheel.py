"""The page is part of what `pip install` brings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent.parent.parent
BUILT = "anew/surfaces/web/built"


def test_the_wheel_holds_the_page_and_nothing_that_was_not_built(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(tmp_path),
        str(ROOT),
    ]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    names = ZipFile(wheel).namelist()
    ours = {name.removeprefix(f"{BUILT}/") for name in names if name.startswith(f"{BUILT}/")}
    folder = ROOT / "src" / BUILT
    assert "index.html" in ours
    assert ours == {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert not [name for name in names if "node_modules" in name or name.endswith(".tsx")]
