"""`anew demo`: what a newcomer sees first, in processes of its own as there."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.surfaces.cli.terminals import PATIENCE_SECONDS, ROOT

DEMO = [sys.executable, "-m", "anew", "demo"]


def surroundings(tmp_path: Path) -> dict[str, str]:
    """Temporary folders of ours; a database and a proxy that are not for the demo."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "cwd").mkdir()
    return {
        **os.environ,
        "TMPDIR": str(tmp_path / "tmp"),
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT / "src"),
        "ANEW_DB": "postgresql://nobody@127.0.0.1:1/of-no-interest",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "http_proxy": "http://127.0.0.1:1",
        "NO_PROXY": "",
        "no_proxy": "",
    }


def anew(folder: str, *words: str) -> str:
    command = [sys.executable, "-m", "anew", *words]
    env = {name: text for name, text in os.environ.items() if name != "ANEW_DB"}
    env["PYTHONPATH"] = str(ROOT / "src")
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=True
    ).stdout


def test_it_retries_is_killed_resumes_and_leaves_a_run_to_look_at(tmp_path: Path) -> None:
    env = surroundings(tmp_path)
    done = subprocess.run(
        DEMO, cwd=tmp_path / "cwd", env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    before, killed, after = re.split(r"^\$ kill -9 (\d+)$", done.stdout, flags=re.M)
    assert before.count("HTTP 429 Too Many Requests") == 2
    assert "order 3 was on its way" in after
    assert int(killed) > 0
    assert "worker was lost; it is queued again, which costs no attempt" in after
    assert re.search(r"^deliver .*done · 4/4$", after, re.M)  # the lanes
    assert "The API counts 5 calls for 4 orders, and 4 deliveries." in after
    [folder] = re.findall(r"^Look at it: +cd (\S+)$", after, re.M)
    assert " done  demo " in anew(folder, "show", "last")
    assert list((tmp_path / "cwd").iterdir()) == []


def test_make_demo_is_the_same() -> None:
    assert re.search(r"^demo:.*\n\t@\$\(BIN\)/anew demo$", (ROOT / "Makefile").read_text(), re.M)


class Typed:
    """The demo on a terminal."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.end, theirs = pty.openpty()
        self.process = subprocess.Popen(
            DEMO, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        self.shown = ""

    def read_until(self, pattern: str) -> re.Match[str]:
        while not (found := re.search(pattern, self.shown)):
            ready, _, _ = select.select([self.end], [], [], PATIENCE_SECONDS)
            assert ready, f"it says no more than: {self.shown}"
            try:
                self.shown += os.read(self.end, 65_536).decode("utf-8", "ignore")
            except OSError:
                raise AssertionError(f"it has ended: {self.shown}") from None
        return found

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.end)


@pytest.fixture(name="terminal")
def a_terminal(tmp_path: Path) -> Iterator[Typed]:
    terminal = Typed(tmp_path, surroundings(tmp_path))
    yield terminal
    terminal.close()


@pytest.mark.long
def test_on_a_terminal_it_serves_the_page_until_ctrl_c_and_leaves_nothing(
    terminal: Typed, tmp_path: Path
) -> None:
    found = terminal.read_until(r"The page: open (http://127\.0\.0\.1:\d+)/runs#token=(\S+)\r\n")
    url, token = found.groups()
    page = urlopen(Request(f"{url}/runs", headers={"Accept": "text/html"})).read()
    assert b"<script" in page
    runs = Request(f"{url}/api/v1/runs", headers={"Authorization": f"Bearer {token}"})
    assert b'"program":"demo"' in urlopen(runs).read().replace(b'": "', b'":"')
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until("Nothing of it is left")
    assert terminal.process.wait(PATIENCE_SECONDS) == 0
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_in_the_middle_it_leaves_nothing(
    terminal: Typed, tmp_path: Path, number: signal.Signals
) -> None:
    terminal.read_until("attempt 1 failed")
    terminal.process.send_signal(number)
    assert terminal.process.wait(PATIENCE_SECONDS) == 130
    assert list((tmp_path / "tmp").iterdir()) == []
