"""A process that has `anew` imported and forks one process per request, each a real `anew` command.

Started as a script. Reads a request as a line of JSON, answers with the process id, then with how
it ended. Forking a warm process takes milliseconds where a start takes a third of a second, which
is what makes hundreds of kills affordable.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
from importlib import import_module
from typing import Any

# What a command imports on its way, so that no process has to do it again.
WARM = (
    "anew.surfaces.cli.run",
    "anew.surfaces.cli.resume",
    "anew.surfaces.cli.events",
    "anew.surfaces.cli.runs",
    "anew.surfaces.cli.show",
    "anew.surfaces.cli.cancel",
    "anew.surfaces.cli.lab_server",
    "anew.stores.sqlite",
    "anew.runtime.engine",
    "anew.tools.http",
    "anew.tools.noop",
    "anew.tools.python",
    "anew.tools.shell",
    "importlib.metadata",
    "encodings.utf_8_sig",
    "tests.crash.effect_tool",
    "tests.crash.reading",
)
NOBODY = 65534


def main() -> int:
    for module in WARM:
        import_module(module)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            return _command(asked)
        _say({"pid": child})
        _, ended = os.waitpid(child, 0)
        _say({"status": os.waitstatus_to_exitcode(ended)})
    return 0


def _say(answer: dict[str, int]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _command(asked: dict[str, Any]) -> int:
    """Become the command; the caller's return ends the process as an interpreter ends."""
    os.setsid()
    os.chdir(asked["folder"])
    os.environ.update(asked["env"])
    for descriptor, name in enumerate((os.devnull, asked["out"], asked["err"])):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        opened = os.open(name, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.register(signal.SIGUSR2)
    if asked.get("file_bytes"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["file_bytes"],) * 2)
    if asked.get("disk_writes"):
        from tests.crash.full_disk import fill_after

        fill_after(asked["disk_writes"])
    if asked.get("is_humble"):
        _give_up_power()
    sys.argv = ["anew", *asked["words"]]
    status: int = import_module(asked["module"]).main(asked["words"])
    return status


def _give_up_power() -> None:
    """Permissions bind everyone but root."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


if __name__ == "__main__":
    sys.exit(main())
