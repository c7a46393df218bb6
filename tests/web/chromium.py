"""Find a Chromium for the tests of the page, and install one where this machine allows it.

    python -m tests.web.chromium             install it if it is missing and may be installed
    python -m tests.web.chromium --require   the same, and fail when there is none in the end

`ANEW_TEST_BROWSER` names another browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
VARIABLE = "ANEW_TEST_BROWSER"
# With what it recommends: without fonts a page is laid out otherwise.
_INSTALL = ("apt-get", "install", "-y", "-q", "chromium")
_REFRESH = ("apt-get", "update", "-q")
MISSING = f"no browser for the tests of the page. Install Chromium, or name one by ${VARIABLE}."


def find() -> str | None:
    """The path of a browser; None when there is none."""
    named = os.environ.get(VARIABLE)
    found = (shutil.which(name) for name in ((named,) if named else NAMES))
    return next((path for path in found if path is not None), None)


def install() -> bool:
    """Whether Debian's package could be installed: by root only, and only where there is Debian."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    print("installing Chromium for the tests of the page", file=sys.stderr, flush=True)
    return quiet(_INSTALL) or (quiet(_REFRESH) and quiet(_INSTALL))


def quiet(command: tuple[str, ...]) -> bool:
    surroundings = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, capture_output=True, env=surroundings, check=False)
    return done.returncode == 0


def main(words: list[str]) -> int:
    if find() is not None or (VARIABLE not in os.environ and install() and find() is not None):
        return 0
    print(MISSING, file=sys.stderr, flush=True)
    return 1 if "--require" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
