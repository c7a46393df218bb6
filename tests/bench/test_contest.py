"""Sides take turns, and only a peer may fail."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic

import pytest

from bench import contest
from bench.contest import Entry, Sample, Side, SideFailed, contend

REASON = "import json; print(json.dumps({'reason': 'has no loops'}))"
SAMPLE = (
    "import json, sys; print('noise'); print(json.dumps({'seconds': 1, 'said': sys.argv[1:3]}))"
)

# A process that was killed is gone soon, not at once.
GONE_SECONDS_MAX = 30


@pytest.fixture(autouse=True)
def _somewhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contest, "FOLDER", tmp_path)
    monkeypatch.setattr(contest, "probe", lambda rounds: (0.03, 0.03))


def side(program: str, *, is_ours: bool = False) -> Side:
    return Side("side", (sys.executable, "-I", "-c", program), is_ours=is_ours)


def test_sides_take_turns() -> None:
    played = []

    def play(entry: Entry) -> Sample:
        played.append(entry.side.name)
        return {"seconds": 1.0}

    contend([Entry(Side("a"), "w", 1, 3, play=play), Entry(Side("b"), "w", 1, 2, play=play)])
    assert played == ["a", "b", "a", "b", "a"]


def test_the_last_line_of_a_command_is_its_sample() -> None:
    entry = Entry(side(SAMPLE), "steps", 7, 2)
    contend([entry])
    assert entry.values("said") == [["steps", "7"]] * 2
    assert entry.probes_ms == [30.0, 30.0]


def test_a_side_that_cannot_is_not_asked_again() -> None:
    entry = Entry(side(REASON), "items", 7, 5)
    contend([entry])
    assert (entry.reason, entry.samples) == ("has no loops", [])


def test_a_side_that_is_not_here_says_why() -> None:
    entry = Entry(Side("gone", reason="not installed"), "steps", 7)
    contend([entry])
    assert entry.reason == "not installed"


def test_a_peer_that_fails_has_its_last_word_as_reason() -> None:
    entry = Entry(side("raise SystemExit('no more memory')"), "steps", 7)
    contend([entry])
    assert entry.reason == "failed: no more memory"


def test_a_side_of_ours_that_fails_ends_everything() -> None:
    with pytest.raises(SideFailed, match="no more memory"):
        contend([Entry(side("raise SystemExit('no more memory')", is_ours=True), "steps", 7)])


def test_a_side_leaves_nothing_behind(tmp_path: Path) -> None:
    started = tmp_path / "started"
    child = "import time; time.sleep(60)"
    program = (
        "import pathlib, subprocess as s, sys; "
        f"one = s.Popen([sys.executable, '-c', {child!r}], stdout=s.DEVNULL, stderr=s.DEVNULL); "
        f"pathlib.Path({str(started)!r}).write_text(str(one.pid)); print('{{}}')"
    )
    entry = Entry(side(program), "items", 100, 1)
    contend([entry])
    assert entry.samples == [{}]
    until = monotonic() + GONE_SECONDS_MAX
    while is_running(int(started.read_text())):
        assert monotonic() < until


def test_a_peer_that_takes_too_long_is_stopped() -> None:
    entry = Entry(side("import time; time.sleep(60)"), "items", 100, 1, seconds_max=0.5)
    contend([entry])
    assert entry.reason == "failed: it took longer than 0.5 s"


def is_running(pid: int) -> bool:
    """A process that was killed may lie there until somebody asks for its status."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_side_that_is_cut_short_counts_as_done_by_then() -> None:
    said = "import time; print('begun', time.time() - 100, flush=True); time.sleep(60)"
    entry = Entry(side(said), "items", 100, 1, seconds_max=0.5, is_cut=True)
    contend([entry])
    assert 0.5 < entry.rates()[0] < 1
    assert entry.is_bound()


def test_a_side_that_has_not_begun_by_then_has_no_rate() -> None:
    slow = side("import time; time.sleep(60)")
    entry = Entry(slow, "items", 100, 1, seconds_max=0.5, is_cut=True)
    contend([entry])
    assert entry.reason == "failed: it took longer than 0.5 s"


def test_modules_may_be_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in contest.environment()
    assert "PYTHONDONTWRITEBYTECODE" in os.environ
