"""A process that protects itself as `anew serve` does, and then tells what can still be seen of it.

`python -m tests.abuse.withdrawing PORT` prints JSON. At PORT someone who pretends to be PostgreSQL
asks for a password.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg

from anew.environment import environment, protect_process


def main(port: str) -> dict[str, object]:
    protect_process()
    found = {
        "os.environ": dict(os.environ),
        "proc": Path("/proc/self/environ").read_text() if os.geteuid() == 0 else "",
        "program": subprocess.run(["env"], capture_output=True, text=True, check=True).stdout,
        "shell": subprocess.run(
            ["sh", "-c", "set"], capture_output=True, text=True, check=True
        ).stdout,
        "arguments": Path("/proc/self/cmdline").read_text(),
        "readable": dict(environment()),
        "dumpable": ctypes.CDLL(None).prctl(3, 0, 0, 0, 0),
    }
    try:
        psycopg.connect(f"host=127.0.0.1 port={port} user=x dbname=x sslmode=disable")
    except psycopg.OperationalError as refused:
        found["database"] = str(refused)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
