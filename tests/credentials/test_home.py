"""Tests write keys and versions of credentials, and never where a user has those in use."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path


def test_the_home_of_whoever_tests_is_not_used() -> None:
    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    asked = [sys.executable, "-c", "from pathlib import Path; print(Path.home())"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    assert Path.home() == Path(found) != own
