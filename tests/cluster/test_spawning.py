"""The processes of these tests begin, stand still, live in another time, and leave nothing behind."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.spawning import Process, Spawner
from tests.crash.kit import Hung, soon

pytestmark = pytest.mark.daily

HOUR_SECONDS = 3600
NANOSECONDS = 1_000_000_000
ANEW = "anew.surfaces.cli.main"


def begun(spawner: Spawner, folder: Path, *words: str, **more: Any) -> Process:
    request = {
        "module": ANEW,
        "words": list(words),
        "folder": str(folder),
        "env": {},
        "out": str(folder / f"out{words}"),
        "err": str(folder / f"err{words}"),
        **more,
    }
    return Process(spawner, "one", request)


def state_of(process: Process) -> str:
    """R, S, T, … as the kernel says; nothing once it is gone."""
    try:
        text = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    return text.rpartition(")")[2].split()[0]


def test_a_process_tells_how_it_ended_and_what_it_said(spawner: Spawner, folder: Path) -> None:
    ended = begun(spawner, folder, "--version").wait()
    assert (ended.status, ended.out[:5], ended.err) == (0, "anew ", "")
    assert begun(spawner, folder, "nonsense").wait().status == 2


def test_several_stay_at_once_and_each_is_signalled_alone(spawner: Spawner, folder: Path) -> None:
    one = begun(spawner, folder, "lab-server", "--port", "0")
    other = begun(spawner, folder, "lab-server", "--port=0")
    one.freeze()
    soon(lambda: state_of(one) == "T", "it to stand still")
    assert not other.has_ended
    other.kill()
    assert other.wait().status == -signal.SIGKILL
    assert not one.has_ended
    one.thaw()
    soon(lambda: state_of(one) in ("R", "S"), "it to continue")
    with pytest.raises(Hung):
        one.wait(0.01)  # who waits in vain ends it
    assert one.has_ended


@pytest.mark.parametrize("hours", [1, -1])
def test_a_process_can_live_in_another_time(spawner: Spawner, folder: Path, hours: int) -> None:
    shift = hours * HOUR_SECONDS
    process = begun(spawner, folder, module="tests.cluster.skewed", skew_seconds=shift)
    shifted, seconds, true = map(int, process.wait().out.split())
    assert abs(true - time.time_ns()) < 60 * NANOSECONDS
    assert abs(shifted - true - shift * NANOSECONDS) < NANOSECONDS
    assert abs(seconds - shifted // NANOSECONDS) <= 1


def test_what_is_left_ends_with_the_tests(folder: Path) -> None:
    spawner = Spawner()
    left = begun(spawner, folder, "lab-server", "--port", "0")
    spawner.close()
    assert state_of(left) == ""
