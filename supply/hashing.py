"""Find the hash of each pinned package: of the file that pip would install on this machine.

Pip asks the index it is configured for. What other machines have found for the same pins is kept,
so that the file comes to hold every platform on which it was made.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from packaging.utils import canonicalize_name

from supply.pins import HASHES_FILE, PINS_FILE, hash_lines, hashed, pinned

_HEAD = """\
# The files behind constraints.txt. `make hashes` writes this, and adds those of its platform.
# pip install --require-hashes --no-deps -r hashes.txt
"""


def write_hashes() -> str:
    """Bring hashes.txt to the pins; the text says what was done."""
    pins, found = pinned(), _offered()
    lacking = sorted(pins.keys() - {name for name, _ in found})
    if lacking:
        raise SystemExit(f"pip offers no file with a SHA-256 for {', '.join(lacking)}")
    known = {row: files for row, files in hashed().items() if pins.get(row[0]) == row[1]}
    merged = {row: known.get(row, []) + found.get(row, []) for row in {*known, *found}}
    HASHES_FILE.write_text(_HEAD + hash_lines(merged), encoding="utf-8")
    return f"{HASHES_FILE.name}: {len(merged)} packages"


def _offered() -> dict[tuple[str, str], list[str]]:
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        command += ["--no-deps", "--quiet", "--report", str(report), "-r", str(PINS_FILE)]
        subprocess.run(command, check=True)
        said = msgspec.json.decode(report.read_bytes())
    return dict(map(_row, said["install"]))


def _row(
    item: dict[str, dict[str, dict[str, dict[str, str]]]],
) -> tuple[tuple[str, str], list[str]]:
    metadata, info = item["metadata"], item["download_info"]["archive_info"]
    name = canonicalize_name(str(metadata["name"]))
    return (name, str(metadata["version"])), [info["hashes"]["sha256"]]
