"""Make the golden logs of a version: real runs of `documents/`, by the command line alone.

    python -m tests.timelines.making FOLDER

With PYTHONPATH set to the sources of another version it makes that one's. A document that the
version does not know is left out. Each FOLDER has the documents it ran, their logs, the database of
them all, and the logs of simulations of some conformance cases.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DOCUMENTS = Path(__file__).parent / "documents"
CONFORMANCE = Path(__file__).parent.parent / "conformance"
# One of so many conformance cases is kept: enough to notice, few enough to keep for ever.
CASES_STEP = 6
SECRET = "sesame-open-sesame"
CREDENTIAL = json.dumps({"type": "bearer", "data": {"token": SECRET}})
PATIENCE_SECONDS = 60
TRIES_MAX = 20
ENDS = ("run.done", "run.failed", "run.cancelled")
_ANEW = [
    sys.executable,
    "-c",
    "import sys; from anew.surfaces.cli.main import main; sys.exit(main())",
]


class Bench:
    """A folder in which `anew` is called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        place = folder / "runs.db"
        self.env = {
            **os.environ,
            "ANEW_DB": f"sqlite:///{place}",
            "ANEW_CREDENTIAL_API": CREDENTIAL,
            "ANEW_KEY": "",
            "HOME": str(folder),
        }
        os.mkfifo(folder / "bell")
        os.mkfifo(folder / "gate")
        self._bell = os.open(folder / "bell", os.O_RDWR)
        self._gate = os.open(folder / "gate", os.O_RDWR)

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*_ANEW, *words], cwd=self.folder, env=self.env, capture_output=True, text=True,
            timeout=PATIENCE_SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*_ANEW, *words], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def is_known(self, file: str) -> bool:
        return self.call("check", file).returncode == 0

    def hear(self) -> None:
        """Wait until the playbook rings the bell."""
        os.read(self._bell, 100)

    def let_go(self) -> None:
        os.write(self._gate, b"word\n")

    def rows(self, run: str) -> list[dict[str, Any]]:
        said = self.call("events", run, "--json")
        assert said.returncode == 0, said.stderr
        rows = [json.loads(line) for line in said.stdout.splitlines()]
        # Where the document lay is nobody's business; a log is derived alike without it.
        rows[0]["data"]["file"] = Path(rows[0]["data"].get("file") or "").name
        return rows


def _run(bench: Bench, file: str) -> None:
    bench.call("run", file, "--quiet")


def _held(bench: Bench, file: str) -> None:
    """Paused and resumed, then its process is killed and another goes on."""
    process = bench.begin("run", file, "--quiet")
    bench.hear()
    bench.call("pause", "last")
    process.kill()
    process.wait()
    again = bench.begin("resume", "last", "--quiet")
    bench.hear()
    bench.let_go()
    again.wait(PATIENCE_SECONDS)


def _cancelled(bench: Bench, file: str) -> None:
    process = bench.begin("run", file, "--quiet")
    bench.hear()
    bench.call("cancel", "last")
    process.wait(PATIENCE_SECONDS)


def _silent(bench: Bench, file: str) -> None:
    bench.call("run", file, "--quiet")
    _finish(bench)


def _finish(bench: Bench) -> None:
    """A run that waits for others with a deadline is left alone until that has passed."""
    for _ in range(TRIES_MAX):
        if bench.rows("last")[-1]["name"] in ENDS:
            return
        bench.call("resume", "last", "--quiet")


def _answered(bench: Bench, file: str) -> None:
    bench.call("run", file, "--quiet")
    bench.call("answer", "last", "Y")


def _signalled(bench: Bench, file: str) -> None:
    bench.call("run", file, "--quiet")
    bench.call("signal", "last", "shipped", "--payload", '{"by": "sea"}')
    bench.call("signal", "last", "paid", "--payload", '{"amount": 12}')
    _finish(bench)


def _skipped(bench: Bench, file: str) -> None:
    process = bench.begin("run", file, "--quiet")
    bench.hear()
    (bench.folder / "mended").touch()
    for step in ("fetch", "nap"):
        for _ in range(TRIES_MAX):
            if " now." in bench.call("skip", "last", step, "--by", "ann").stdout:
                break
    process.wait(PATIENCE_SECONDS)


# Name, document, how it is run.
RUNS: tuple[tuple[str, str, Callable[[Bench, str], None]], ...] = (
    ("retries", "retries.yaml", _run),
    ("routing", "routing.yaml", _run),
    ("dropped", "dropped.yaml", _run),
    ("held", "held.yaml", _held),
    ("cancelled", "held.yaml", _cancelled),
    ("private", "private.yaml", _run),
    ("signals", "signals.yaml", _signalled),
    ("skipped", "skipped.yaml", _skipped),
    ("guarded", "guarded.yaml", _run),
    ("branches", "branches.dot", _answered),
    ("silence", "silence.dot", _silent),
)


def simulated(folder: Path) -> Iterator[dict[str, Any]]:
    """Every so-manieth conformance case that this version simulates: its document and its logs."""
    from anew.surfaces.cli.main import main

    names = ("playbook", "own", "dot", "own_dot")
    texts = [CONFORMANCE / f"{name}.json" for name in names]
    cases = [case for text in texts for case in json.loads(text.read_text())[::CASES_STEP]]
    for case in cases:
        file = folder / ("case.dot" if "dot" in case else "case.yaml")
        file.write_text(case.get("dot") or case["yaml"])
        (folder / "script.json").write_text(json.dumps(case["script"]))
        out = StringIO()
        with redirect_stdout(out), redirect_stderr(StringIO()):
            main(["simulate", str(file), "--script", str(folder / "script.json"), "--json"])
        if out.getvalue():
            rows = json.loads(out.getvalue())["events"]
            yield {"id": case["id"], "file": file.name, "source": file.read_text(), "rows": rows}


def make(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="timelines-") as scratch:
        bench = Bench(Path(scratch))
        for name, document, how in RUNS:
            file = f"{name}{Path(document).suffix}"
            shutil.copy(DOCUMENTS / document, bench.folder / file)
            if bench.is_known(file):
                how(bench, file)
                shutil.copy(DOCUMENTS / document, target / file)
                (target / f"{name}.jsonl").write_text(_text(bench.rows("last")))
        _pack(target / "runs.db.gz", (bench.folder / "runs.db").read_bytes())
        lines = "".join(json.dumps(case) + "\n" for case in simulated(bench.folder))
        _pack(target / "simulated.jsonl.gz", lines.encode())


def _text(rows: list[dict[str, Any]]) -> str:
    assert rows[-1]["name"] in ENDS, rows[-1]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    assert SECRET not in text
    return text


def _pack(file: Path, data: bytes) -> None:
    file.write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
