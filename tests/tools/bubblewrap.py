"""Find bubblewrap for the tests of the sandbox, and install it where this machine allows it.

python -m tests.tools.bubblewrap             install it if it is missing and may be installed
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache

from tests.web.chromium import quiet

_INSTALL = ("apt-get", "install", "-y", "-q", "bubblewrap")
_REFRESH = ("apt-get", "update", "-q")
_TRIAL = ("bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc")


def install() -> bool:
    """Whether Debian's package could be installed: by root only, and only where there is Debian."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    return quiet(_INSTALL) or (quiet(_REFRESH) and quiet(_INSTALL))


@cache
def missing(kind: str) -> str | None:
    """Why this machine has no such sandbox; None when it has."""
    if sys.platform != "linux":
        return f"the sandbox {kind} needs Linux"
    if kind == "user":
        return None if os.geteuid() == 0 else "the sandbox user needs root"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (python -m tests.tools.bubblewrap)"
    tried = subprocess.run((*_TRIAL, "true"), capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"bubblewrap cannot be used: {tried.stderr.strip()}"


if __name__ == "__main__" and shutil.which("bwrap") is None and not install():
    sys.stderr.write("no bubblewrap: tests of that sandbox will be skipped\n")
