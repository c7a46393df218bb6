"""The pinned versions of constraints.txt, and the hashes of hashes.txt that belong to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PINS_FILE = ROOT / "constraints.txt"
HASHES_FILE = ROOT / "hashes.txt"

_HASHED = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+) \\\n(?P<hashes>(?: {4}--hash=.+\n)+)"
)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def pinned() -> dict[str, str]:
    """The version of each package, by its canonical name."""
    lines = PINS_FILE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("==", 1) for line in lines)
    return {canonicalize_name(name): version for name, version in rows}


def hashed() -> dict[tuple[str, str], list[str]]:
    """The SHA-256 of each known file of a package, by canonical name and version."""
    if not HASHES_FILE.exists():
        return {}
    text = HASHES_FILE.read_text(encoding="utf-8")
    return {
        (canonicalize_name(row["name"]), row["version"]): _HASH.findall(row["hashes"])
        for row in _HASHED.finditer(text)
    }


def hash_lines(hashes: Mapping[tuple[str, str], list[str]]) -> str:
    """As `pip install --require-hashes -r` reads them."""
    lines = []
    for (name, version), found in sorted(hashes.items()):
        rows = [f"    --hash=sha256:{each}" for each in sorted(set(found))]
        lines.append(f"{name}=={version} \\\n" + " \\\n".join(rows) + "\n")
    return "".join(lines)
