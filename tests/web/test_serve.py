"""`make serve`: a newcomer finds a run in every state, and Ctrl-C leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.web.scene import ROOT, Scene, soon


def test_ctrl_c_stops_everything_that_make_serve_began(tmp_path: Path) -> None:
    command = [sys.executable, "examples/serve.py", "--port", "0"]
    surroundings = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=surroundings,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"Open (http://127\.0\.0\.1:\d+)/#token=([\w-]{40,}) and look", line)
        assert found
        url, token = found.groups()
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{url}/api/v1/runs")
        with urlopen(Request(f"{url}/api/v1/runs", headers={"Authorization": f"Bearer {token}"})):
            pass
        children = _children(process.pid)
        assert len(children) >= 2
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    soon(lambda: not any(map(_is_alive, children)), "the processes are gone")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.daily
def test_there_is_a_run_that_waits_after_three_failures(scene: Scene) -> None:
    picture = scene.get(f"/api/v1/runs/{scene.one('retrying', 'orders')}/picture")
    [wait] = picture["waits"]
    assert (wait["step"], wait["attempt"], wait["attempts"]) == ("fetch", 4, 8)
    assert wait["retry_after_seconds"] == 600
    assert wait["can_skip"]


def _children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def _is_alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
