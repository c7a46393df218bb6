"""Put the page into every wheel and source distribution: build it where it is missing or old.

Hatchling calls this. An editable installation reads the tree as it is and is not kept waiting:
there `make web` builds the page when somebody wants it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

EDITABLE = "editable"
# What the page is made of, below web/, as the Makefile has it.
SOURCES = ("src", "public")
SETTINGS = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json")
FAILED = (
    "The page of Anew could not be built; the reason is above. Building needs Node (20.19 or "
    "newer), or PyPI to get one from, and the packages of npm. Build it where they are (`make web` "
    "in a checkout), and then this again; a wheel or a source distribution of Anew has the page "
    "already and needs none of them."
)
NO_SOURCES = (
    "The page of Anew is not in this tree, and neither is web/src, which it is built of. Build "
    "from a whole checkout or from a source distribution."
)


class PageHook(BuildHookInterface[Any]):
    """Runs web/build.py before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        root = Path(self.root)
        if version == EDITABLE or is_built(root):
            return
        if not (root / "web" / SOURCES[0]).is_dir():
            self.app.abort(NO_SOURCES)
        # Standard output belongs to whoever reads the names of what was built.
        command = [sys.executable, str(root / "web" / "build.py")]
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
            self.app.abort(FAILED)


def is_built(root: Path) -> bool:
    """Whether the page is there and as new as its sources, where those are there."""
    page, web = root / "src/anew/surfaces/web/built/index.html", root / "web"
    if not page.is_file():
        return False
    files = [path for name in SOURCES for path in (web / name).rglob("*") if path.is_file()]
    files += [path for name in SETTINGS if (path := web / name).is_file()]
    return page.stat().st_mtime >= max((path.stat().st_mtime for path in files), default=0)
