"""`anew test --watch` in a real process: it plays again when a file that matters is saved."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Far above what any of this takes: what hangs should fail and not stop the suite.
PATIENCE_SECONDS = 40
FLOW = "workflow: [{step: a, tool: {kind: noop}}]\n"
TWO = "workflow: [{step: a, tool: {kind: noop}, next: b}, {step: b, tool: {kind: noop}}]\n"


class Watching:
    """A terminal in which `anew test --watch` is at work."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "anew", "test", "--watch", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"},
        )
        self._said = b""

    def told(self) -> str:
        """What it says until it watches again."""
        assert self.process.stdout is not None
        while b"Ctrl-C ends it\n" not in self._said:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_SECONDS)
            assert ready, f"it says nothing more than {self._said!r}"
            more = os.read(self.process.stdout.fileno(), 65536)
            assert more, f"it ended with {self._said!r}"
            self._said += more
        told, _, self._said = self._said.partition(b"Ctrl-C ends it\n")
        return told.decode()

    def interrupt(self) -> tuple[int, str]:
        os.killpg(self.process.pid, signal.SIGINT)
        out, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, (self._said + out).decode()


def save(file: Path, text: str) -> None:
    """As editors do: nobody ever sees half of it."""
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(text)
    beside.replace(file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW)
    (tmp_path / "flow.scenario.yaml").write_text("expect: {visits: [a]}\n")
    return tmp_path


@pytest.fixture
def watching(folder: Path) -> Iterator[Watching]:
    opened = Watching(folder)
    yield opened
    if opened.process.poll() is None:
        opened.process.kill()
    opened.process.communicate(timeout=PATIENCE_SECONDS)


def test_it_plays_again_when_something_is_saved_until_ctrl_c(
    watching: Watching, folder: Path
) -> None:
    assert "1 passed" in watching.told()
    save(folder / "flow.yaml", TWO)
    assert "FAILED flow.scenario.yaml" in watching.told()
    save(folder / "flow.scenario.yaml", "expect: {visits: [a, b]}\n")
    assert "1 passed" in watching.told()
    save(folder / "flow.more.scenario.yaml", "expect: {status: done}\n")
    assert "2 passed" in watching.told()
    save(folder / "flow.timeline.txt", "something else\n")
    assert "timeline: another one from line 1 on" in watching.told()
    assert watching.interrupt() == (130, "anew: cancelled\n")


def test_it_goes_on_when_there_is_nothing_to_play(watching: Watching, folder: Path) -> None:
    assert "1 passed" in watching.told()
    (folder / "flow.scenario.yaml").unlink()
    assert "there is no scenario" in watching.told()
    save(folder / "a.md", "Say hello.\n")
    save(
        folder / "graph.dot",
        'digraph g { s [shape=ellipse] a [prompt="@a.md"] e [shape=ellipse] s -> a -> e }',
    )
    assert "there is no scenario" in watching.told()
    save(folder / "graph.scenario.yaml", "expect: {status: done}\n")
    assert "1 passed" in watching.told()
    # A file that only the graph names is one of those it is made of.
    save(folder / "a.md", "Say hello, please.\n")
    assert "1 passed" in watching.told()
    # In between it says nothing: what comes next is what the next change has led to.
    save(folder / "graph.scenario.yaml", "expect: {status: failed}\n")
    assert "FAILED graph.scenario.yaml" in watching.told()
