"""From nothing to a finished run of three steps: how long one command takes, and its peak memory.

`cold.py COMMAND… cold SIZE FOLDER` is a side: it writes the playbook, runs the command twice with
PLAYBOOK and FOLDER in it replaced, and prints JSON about the second time, when databases and
caches exist. A small process of its own, because a child's peak memory counts what its parent had
when it was started.
"""

from __future__ import annotations

import json
import os
import sys
from time import perf_counter

STEPS = """\
- {step: start, tool: TOOL, next: [{step: s1}]}
- {step: s1, tool: TOOL, next: [{step: s2}]}
- {step: s2, tool: TOOL}
"""
HEAD = """\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: bench, path: bench}
workflow:
"""


def main(words: list[str]) -> None:
    *command, _, _, folder = words
    playbook = os.path.join(folder, "cold.yaml")
    # The peer that reads playbooks too has no tool that does nothing; ours has.
    tool = "{kind: shell, cmds: ['true']}" if "noetl" in command[0] else "{kind: noop}"
    with open(playbook, "w", encoding="utf-8") as file:
        file.write(HEAD + STEPS.replace("TOOL", tool))
    called = [word.replace("PLAYBOOK", playbook).replace("FOLDER", folder) for word in command]
    _seconds_and_peak(called)
    seconds, peak = _seconds_and_peak(called)
    print(json.dumps({"seconds": seconds, "peak_mib": peak}))


def _seconds_and_peak(command: list[str]) -> tuple[float, float]:
    begun = perf_counter()
    child = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    _, status, usage = os.wait4(child, 0)
    taken = perf_counter() - begun
    if status:
        raise SystemExit(f"{command[0]} ended with status {os.waitstatus_to_exitcode(status)}")
    return taken, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1:])
