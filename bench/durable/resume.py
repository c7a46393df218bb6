"""Anew's side of `resume`: a run is killed in its middle, and the same command is given again.

`python -m bench.durable.resume resume SIZE FOLDER` prints one JSON object. The notes of the tool
`tick` are the witness, as the notes of a peer's steps are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.durable.documents import ticking
from bench.peers.killing import NOTES, SILENCE_SECONDS_MAX, Start, resumed
from bench.startup import anew_command
from bench.tool_package import register, settings


def main(words: list[str]) -> None:
    _, size, place = words
    folder, steps = Path(place), int(size)
    register(folder)
    document = folder / "ticks.yaml"
    document.write_text(ticking(steps, str(folder / NOTES)), encoding="utf-8")
    # The first run of a folder makes the file and compiles modules; nobody resumes without them.
    _command(folder, document, key="warm")().wait(SILENCE_SECONDS_MAX)
    (folder / NOTES).unlink()
    start = _command(folder, document, key="bench")
    print(json.dumps(resumed(start, start, steps, folder) | {"is_automatic": True}))


def _command(folder: Path, document: Path, *, key: str) -> Start:
    words = ["run", str(document), "--key", key, "--db", str(folder / "anew.db"), "--quiet"]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*anew_command(), *words],
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=settings(folder),
            cwd=folder,
        )

    return start


if __name__ == "__main__":
    main(sys.argv[1:])
