"""`anew questions`: what people are asked by all runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from anew.runtime.bootstrap import open_engine
from anew.runtime.run_starts import StartRequest

ASKS = """\
metadata: {name: NAME}
workflow:
  - step: gate
    tool: {kind: human, question: "Ship\\e[2J it?", choices: ["[Y] Yes", "[N] No"], TIMEOUT}
"""
TWO = """\
metadata: {name: two}
workflow:
  - step: split
    tool: {kind: noop}
    next: {spec: {mode: inclusive}, arcs: [{step: left}, {step: "to the right"}]}
  - step: left
    tool: {kind: human, question: "Left?"}
  - step: to the right
    tool: {kind: human, question: "Right?", choices: ["Yes"]}
"""


@pytest.fixture
def asking(shelf, anew):
    """Have runs of these documents ask; their ids."""
    del anew  # it says where the database is

    async def ask(documents: tuple[str, ...]) -> list[str]:
        runs = []
        async with open_engine(shelf.url) as engine:
            for document in documents:
                read = engine.programs.read(document, str(Path("flow.yaml")))
                started = await engine.start(StartRequest(read, {}))
                await engine.people.until_blocked(started.run)
                runs.append(str(started.run))
        return runs

    return lambda *documents: asyncio.run(ask(documents))


def test_the_soonest_deadline_comes_first_with_the_command_that_answers(asking, anew) -> None:
    calm = ASKS.replace("NAME", "calm").replace("TIMEOUT", "")
    urgent = ASKS.replace("NAME", "urgent").replace("TIMEOUT", "timeout: 3600")
    runs = asking(calm, urgent)
    told = anew("questions")
    first, what, remedy, second, *_ = told.lines
    assert first.startswith(f"{runs[1]}  urgent  gate  asked ")
    assert " · gives up in " in first
    assert what == "  Ship�[2J it? · [Y] Yes, [N] No"
    assert remedy == f"  `anew answer {runs[1]} CHOICE` answers"
    assert second.startswith(f"{runs[0]}  calm  gate  asked ")
    assert "gives up" not in second


def test_where_a_run_asks_twice_the_step_has_to_be_said(asking, anew) -> None:
    [run] = asking(TWO)
    told = anew("questions")
    assert f"  `anew answer {run} TEXT --step left` answers" in told.lines
    assert f"  `anew answer {run} CHOICE --step 'to the right'` answers" in told.lines


def test_json_has_one_object_per_line_and_a_limit_is_kept(asking, anew) -> None:
    asking(TWO)
    rows = [json.loads(line) for line in anew("questions", "--json").lines]
    assert {row["step"] for row in rows} == {"left", "to the right"}
    assert set(rows[0]) >= {"run", "question", "choices", "deadline", "asked", "silence", "labels"}
    told = anew("questions", "--limit", "1")
    assert len(told.lines) == 3
    assert "there are more" in told.err


def test_where_nobody_is_asked_that_is_told(asking, anew) -> None:
    asking("workflow: [{step: a, tool: {kind: noop}}]")
    told = anew("questions")
    assert (told.status, told.out) == (0, "")
    assert "nobody is asked anything" in told.err
