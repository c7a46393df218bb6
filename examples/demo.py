"""Run flaky_api.yaml against a server that fails on purpose, and leave nothing behind.

`make demo` calls this. The database is a temporary one, so that no earlier run can be in the way.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
ANEW = [sys.executable, "-m", "anew"]
# Should this script be killed, the server still goes away by itself.
IDLE_SECONDS = 60


def main() -> int:
    serve = [*ANEW, "lab-server", "--until-idle", str(IDLE_SECONDS)]
    with (
        TemporaryDirectory(prefix="anew-demo-") as folder,
        subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server,
    ):
        try:
            return run(server, f"{folder}/anew.db")
        except KeyboardInterrupt:  # the run has said so itself
            return 130
        finally:
            server.terminate()


def run(server: subprocess.Popen[str], database: str) -> int:
    assert server.stdout is not None
    address = server.stdout.readline().strip()  # printed once it listens
    if not address:
        return server.wait() or 1
    words = ["run", "examples/flaky_api.yaml", "--set", f"base_url={address}", "--db", database]
    return subprocess.call([*ANEW, *words], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
