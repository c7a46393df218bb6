"""What tasks leave behind when Anew is the first process of a container, where nobody reaps it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# A process that takes over orphans as the first one of a container does. It says how many zombies
# are left, and the status of a child of its own that it waited for last.
WORKER = """
import asyncio, os, subprocess, sys
from pathlib import Path
from anew.kernel import become_subreaper
from anew.tools import orphans
from anew.tools.descendants import children_of
from tests.tools.code_calls import call_of
from anew.tools.shell import ShellTool
become_subreaper()
orphans.is_init = lambda: True
orphans._UNCLAIMED_SECONDS = 0.01
own = subprocess.Popen(["/bin/sh", "-c", "exit 7"])
async def main():
    tool = ShellTool()
    for _ in range(5):
        await tool.call(call_of("shell", Path(sys.argv[1]), command=sys.argv[2]))
    while children_of(os.getpid()) - {own.pid}:
        await asyncio.sleep(0.005)
    print(own.wait())
asyncio.run(main())
"""
LEAVES = {
    "a daemon": "setsid sh -c '(sleep 0 &)'",
    "a daemon that ends later": "setsid sh -c '(sleep 0.2 &)'",
    "a leader of a session": "setsid true & sleep 0",
    "an orphan": "(sleep 0 &)",
    "many orphans": "for n in 1 2 3 4 5 6 7 8; do (setsid sleep 0 &); done",
}


@pytest.mark.parametrize("leaves", LEAVES)
def test_no_zombie_stays_in_a_container(tmp_path: Path, leaves: str) -> None:
    words = [sys.executable, "-c", WORKER, str(tmp_path), LEAVES[leaves]]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "7\n"
