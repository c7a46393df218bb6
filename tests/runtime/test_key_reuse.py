"""A start key that is given again with something else: what is said, and that nothing changes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anew.api import KeyReuseWarning, open_engine
from anew.runtime.keys import KeyInUse
from anew.runtime.programs import read_document
from anew.runtime.run_starts import Started, StartRequest
from tests.runtime.test_control import in_a_world

ONE = """
metadata: {name: one}
workload: {region: us, size: {w: 1, h: 2}}
workflow: [{step: s, tool: {kind: noop}}]
"""
OTHER = ONE.replace("kind: noop", "kind: noop, result: 2")


def again(
    folder: Path, document: str, workload: dict[str, Any], first: dict[str, Any] | None = None
) -> Started:
    """What is said when a key is given for the second time."""

    async def work(world: Any) -> Started:
        run = await world.start(ONE, first, key="k")
        await world.ended(run)
        request = StartRequest(read_document(document, "flow.yaml"), workload, "k")
        started = await world.engine.start(request)
        assert (started.run, started.is_new) == (run, False)
        return started

    return in_a_world(work, folder)


@pytest.mark.parametrize("workload", [{}, {"region": "us"}, {"size": {"w": 1}}])
def test_the_same_key_for_the_same_thing_says_nothing(tmp_path: Path, workload: Any) -> None:
    assert again(tmp_path, ONE, workload).notice is None


def test_other_input_is_named_with_what_to_do(tmp_path: Path) -> None:
    started = again(tmp_path, ONE, {"size": {"w": 3}, "region": "eu"})
    assert list(started.differs) == ["input"]
    assert started.notice is not None
    assert "other input (size, region)" in started.notice
    assert "/flow.yaml --set NAME=VALUE --key OTHER` starts a new run" in started.notice
    assert f"`anew fork {started.run} --from STEP --set NAME=VALUE`" in started.notice


def test_input_that_is_left_out_asks_for_nothing(tmp_path: Path) -> None:
    assert again(tmp_path, ONE, {}, first={"region": "eu"}).notice is None


def test_another_version_of_the_document_is_told(tmp_path: Path) -> None:
    started = again(tmp_path, OTHER, {})
    assert list(started.differs) == ["document"]
    assert f"`anew fork {started.run} --from STEP --program /" in (started.notice or "")
    assert list(again(tmp_path, OTHER, {"region": "eu"}).differs) == ["document", "input"]


def test_a_run_of_another_program_is_refused_with_the_command_for_a_new_one(tmp_path: Path) -> None:
    with pytest.raises(KeyInUse, match=r"flow\.yaml --key OTHER` starts a new run"):
        again(tmp_path, ONE.replace("name: one", "name: two"), {})


def test_python_programs_are_warned(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(ONE)

    async def play() -> None:
        async with open_engine(f"sqlite:///{tmp_path}/k.db") as engine:
            first = await engine.run(tmp_path / "one.yaml", key="k")
            with pytest.warns(KeyReuseWarning, match=r"other input \(region\)"):
                ending = await engine.run(tmp_path / "one.yaml", {"region": "eu"}, key="k")
            assert ending == first

    asyncio.run(play())
