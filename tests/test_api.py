"""The engine of a program of one's own: `anew.api`, and the example that shows it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import anew.api
from anew.api import (
    AutoApprove,
    ConfigError,
    Ending,
    Extensions,
    ProgramError,
    RunStatus,
    calling,
    function_tool,
    open_engine,
)

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples/own_nodes"

ASK = """
workflow:
  - step: ask
    tool: {kind: human, question: "Go on?", choices: [Yes, No]}
    next: [{step: say}]
  - step: say
    tool: {kind: own, name: "{{ workload.name }}"}
"""
LOOP = """digraph loop {
    start [shape=Mdiamond]; a [type=own]; end [shape=Msquare]
    start -> a
    a -> a [loop_restart=true, condition="preferred_label=again"]
    a -> end
}"""


def played(example: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_example_runs_nodes_a_transform_a_rule_and_an_interviewer_of_its_own() -> None:
    assert played(EXAMPLE / "release.py") == [
        "warning own.goal the graph has no goal",
        "#ops: Version 2.1 is out",
        "Release version 2.1? yes",
        "start attempt 1",
        "number attempt 1",
        "approve attempt 1",
        "tell attempt 1",
        "tell attempt 2",
        "done attempt 1",
        "done {'sent': True}",
    ]


def modules_after(code: str) -> set[str]:
    code += "; import sys; print(*(n for n in sys.modules if n.startswith('anew.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_every_name_of_the_api_is_there_and_importing_anew_does_not_import_it() -> None:
    assert set(anew.api.__all__) == {name for name in dir(anew) if name in anew.api.__all__}
    assert [name for name in anew.api.__all__ if getattr(anew, name) is None] == []
    assert modules_after("import anew") == set()
    assert "anew.api" not in modules_after("from anew import tool, lab")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        anew.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("first", ["from anew.tool import Call", "import anew.api", "pass"])
def test_the_decorator_has_the_name_of_the_module_of_the_contract(first: str) -> None:
    code = f"{first}\nfrom anew import tool\n@tool\ndef f(): return 1\n"
    code += "from anew.tool import Call\nassert f() == 1\n@tool(name='g')\ndef h(): ...\n"
    code += (
        "from anew.tools.modules import tool_kinds; assert list(tool_kinds([f, h])) == ['f', 'g']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_run_that_asks_is_told_as_waiting_and_goes_on_in_another_engine(tmp_path: Path) -> None:
    file, database = tmp_path / "ask.yaml", tmp_path / "runs.db"
    file.write_text(ASK)
    tools = {"own": function_tool(lambda inputs: f"hello {inputs['name']}")}

    async def ask() -> Ending:
        async with open_engine(database, tools=tools) as engine:
            return await (await engine.run(file, {"name": "Ada"}, key="k", timeout=20)).wait()

    async def answer(ending: Ending) -> Ending:
        async with open_engine(database, tools=tools) as engine:
            heard: list[str] = []
            engine.listen(lambda run, events: heard.extend(event.name for event in events))
            await engine.answer(ending.run, "yes", by="ann")
            done = await asyncio.wait_for(engine.wait(ending.run), 20)
            log = [event.name for event in await engine.events(ending.run)]
            assert log[-len(heard) :] == heard
            assert await engine.run(file, key="k") == ending.run
            return done

    asked = asyncio.run(ask())
    assert asked.status is RunStatus.WAITING
    assert [one.question for one in asked.questions] == ["Go on?"]
    done = asyncio.run(answer(asked))
    assert done == Ending(asked.run, RunStatus.DONE, "hello Ada")


def test_a_run_that_fails_tells_its_error(tmp_path: Path) -> None:
    file = tmp_path / "fails.yaml"
    file.write_text("workflow: [{step: a, tool: {kind: own}}]")

    def fail(inputs: dict) -> None:
        raise ValueError("not today")

    async def play() -> Ending:
        async with open_engine(tmp_path / "runs.db", tools={"own": function_tool(fail)}) as engine:
            return await (await engine.run(file, timeout=20)).wait()

    ending = asyncio.run(play())
    assert ending.status is RunStatus.FAILED
    assert ending.error is not None
    assert (ending.error["kind"], ending.error["message"]) == ("python_error", "not today")


def test_a_run_that_begins_anew_is_waited_for_to_the_last_of_its_line(tmp_path: Path) -> None:
    file, labels = tmp_path / "loop.dot", iter(["again", "again", None])
    file.write_text(LOOP)
    own = function_tool(
        lambda inputs: anew.api.outcome_of({}, advice=anew.api.Advice(label=next(labels)))
    )
    extensions = Extensions(types=[calling("own", "own", lambda node: {})])

    async def play() -> tuple[Ending, list[str | None]]:
        async with open_engine(
            tmp_path / "runs.db",
            tools={"own": own},
            extensions=extensions,
            interviewer=AutoApprove(),
        ) as engine:
            run = await engine.start(file)
            ending = await asyncio.wait_for(engine.wait(run), 20)
            first = (await engine.events(ending.run))[0]
            assert ending.run != run
            return ending, [first.generation]  # type: ignore[attr-defined]

    ending, generations = asyncio.run(play())
    assert (ending.status, generations) == (RunStatus.DONE, [2])


def test_what_is_wrong_with_a_document_is_told_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("workflow: [{step: a, tool: {kind: nothing}}]")

    async def play() -> None:
        async with open_engine(tmp_path / "runs.db") as engine:
            assert [found.rule for found in engine.check(file)] == ["tool.kind"]
            with pytest.raises(ProgramError, match="nothing"):
                await engine.run(file)
            with pytest.raises(ConfigError, match="cannot read"):
                engine.load(tmp_path / "missing.dot")

    asyncio.run(play())


def test_a_question_that_is_seen_before_it_is_heard_of_is_asked_all_the_same(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ask.yaml"
    file.write_text(ASK.replace("kind: own", "kind: noop"))

    async def play() -> object:
        async with open_engine(tmp_path / "runs.db", interviewer=AutoApprove()) as engine:
            # The store has the question, and nobody says so.
            engine.embedded._listeners.remove(engine.embedded.people.interviews.hear)
            return await (await engine.run(file, {"name": "Ada"}, timeout=20)).status()

    assert asyncio.run(play()) is RunStatus.DONE
