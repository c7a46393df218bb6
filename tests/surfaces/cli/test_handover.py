"""An owner that goes between hearing a intent and telling so, or after: it is not wished again."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NoReturn

import pytest

from anew.runtime.bootstrap import open_engine
from anew.runtime.commands import AnswerQuestion
from anew.runtime.control_socket import ControlSocket, NoAnswer
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.questions import open_questions
from anew.runtime.run_starts import StartRequest
from anew.store import RunId
from anew.surfaces.cli import run_execution, status
from anew.surfaces.cli.final_report import RunOptions
from anew.surfaces.cli.main import main
from anew.surfaces.cli.screen import Screen
from anew.values import Object

TWICE = """\
workflow:
  - step: one
    tool: {kind: human, question: "One?", choices: [Yes, No]}
    next: [{step: two}]
  - step: two
    tool: {kind: human, question: "Two?", choices: [Yes, No]}
"""


@pytest.fixture(name="place")
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    place = str(tmp_path / "anew.db")
    monkeypatch.setenv("ANEW_DB", place)
    monkeypatch.delenv("ANEW_SERVER", raising=False)
    return place


async def asking(engine: Engine) -> RunId:
    """A run that waits for a person in its first step."""
    run = (await engine.start(StartRequest(read_document(TWICE, "twice.yaml"), {}))).run
    assert await engine.people.until_blocked(run)
    return run


async def steps_that_ask(engine: Engine, run: RunId) -> list[str]:
    return [one.key.step for one in await open_questions(engine.database, run)]


def test_an_answer_that_was_heard_is_no_answer_to_the_next_question(
    place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hears = ControlSocket._answer
    heard: list[Object | None] = []

    async def play() -> list[str]:
        async with open_engine(place) as engine:
            run = await asking(engine)

            async def hangs_up_once(
                door: ControlSocket, reader: StreamReader, writer: StreamWriter
            ) -> Object | None:
                heard.append(await hears(door, reader, writer))
                await engine.people.until_blocked(run)
                return None if len(heard) == 1 else heard[-1]

            monkeypatch.setattr(ControlSocket, "_answer", hangs_up_once)
            words = ["answer", str(run), "yes", "--no-wait"]
            assert await asyncio.to_thread(main, words) == status.BAD
            return await steps_that_ask(engine, run)

    assert asyncio.run(play()) == ["two"]
    assert "is not open any more: it was answered" in capsys.readouterr().err
    assert [list(answer or {}) for answer in heard] == [["ok"], ["error", "is_store"]]


def test_who_follows_a_run_when_its_owner_goes_takes_it_over_and_wishes_nothing_again(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def here(engine: Engine) -> NoReturn:
        raise AssertionError("the owner has heard it")

    async def play() -> int:
        async with AsyncExitStack() as owner:
            run = await asking(await owner.enter_async_context(open_engine(place)))

            async def hands_in_too_late(*_: Any) -> NoReturn:
                await owner.aclose()
                raise NoAnswer("the owner does not answer")

            monkeypatch.setattr("anew.surfaces.cli.remote_follow.attend_there", hands_in_too_late)
            options = RunOptions(place, is_quiet=True)
            intent = run_execution.Intent(AnswerQuestion(run=str(run), answer="yes"), here)
            return await run_execution._carry_out(intent, options, Screen(options))

    assert asyncio.run(play()) == status.WAITING
