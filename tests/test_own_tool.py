"""The example of a tool that a package of its own brings: found, checked, played and called."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tomllib
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from anew.engine.outcome import Outcome
from anew.tool import AttemptRef, Call, Timeout, Tool
from anew.values import Object

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "examples/own_tool"
SOURCE = PACKAGE / "src"
PLAYBOOK = "examples/own_tool/roll.yaml"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """What an installer leaves of the package: where it registers its tool."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (group, points), *_ = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    folder = tmp_path / "anew_dice-0.1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "METADATA").write_text("Name: anew-dice\nVersion: 0.1.0\n", encoding="utf-8")
    return folder


def anew(*words: str, path: list[Path]) -> subprocess.CompletedProcess[str]:
    found = os.pathsep.join(map(str, [ROOT / "src", *path]))
    return subprocess.run(
        [sys.executable, "-m", "anew", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": found, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_kind_is_unknown_until_its_package_is_installed(installed: Path) -> None:
    before = anew("check", PLAYBOOK, path=[])
    assert before.returncode == 2
    assert "tool kind 'dice' is unknown" in before.stdout + before.stderr
    after = anew("check", PLAYBOOK, path=[SOURCE, installed.parent])
    assert after.returncode == 0, after.stdout + after.stderr


def test_the_playbook_plays_as_its_timeline_says(installed: Path) -> None:
    script = "examples/own_tool/roll.script.yaml"
    played = anew("simulate", PLAYBOOK, "--script", script, path=[SOURCE, installed.parent])
    timeline = PACKAGE / "roll.timeline.txt"
    if os.environ.get("ANEW_UPDATE_TIMELINES") == "1":
        timeline.write_text(played.stdout, encoding="utf-8")
    assert played.stdout == timeline.read_text(encoding="utf-8"), played.stderr


@pytest.fixture
def dice(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """The tool, built as a worker builds it: its entry point is called without arguments."""
    monkeypatch.syspath_prepend(SOURCE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (point,) = PathDistribution(installed).entry_points
    tool: Tool = point.load()()
    return tool


def call(tool: Tool, inputs: Object, *, key: str = "run:roll:1:0:1", attempt: int = 1) -> Outcome:
    place = AttemptRef("run", "roll", 1, None, "throw", attempt)
    here = Path()
    asked = Call("dice", inputs, place, key, 0, Timeout(), here, here)
    answer = asyncio.run(tool.call(asked))
    assert isinstance(answer, Outcome)
    return answer


def test_a_roll_is_the_same_for_the_same_attempt_and_another_for_the_next(dice: Tool) -> None:
    inputs: Object = {"dice": 20}
    first, again = call(dice, inputs), call(dice, inputs)
    assert first.result == again.result
    assert first.result["total"] == sum(first.result["rolls"])
    assert call(dice, inputs, attempt=2).result != first.result
    assert call(dice, inputs, key="another").result != first.result


def test_too_little_is_an_error_that_keeps_its_result(dice: Tool) -> None:
    outcome = call(dice, {"dice": 2, "least": 13})
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["retryable"]) == ("bad_luck", True)
    assert len(outcome.result["rolls"]) == 2


@pytest.mark.parametrize("inputs", [{"dice": 0}, {"sides": "six"}, {"dice": 10**9}, {"dice": True}])
def test_inputs_it_cannot_use_are_the_authors_turn(dice: Tool, inputs: Object) -> None:
    outcome = call(dice, inputs)
    assert outcome.error is not None
    assert outcome.error["kind"] == "config"
