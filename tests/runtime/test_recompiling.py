"""A run goes on anywhere from the catalog alone, with the program it was started with."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from anew.engine.events import Event, RunRequested, TaskStarted
from anew.engine.state import RunStatus
from anew.errors import ConfigError, ProgramError
from anew.languages.dot.extensions import Extensions, calling
from anew.languages.dot.graph import Graph
from anew.program.findings import Finding, Severity
from anew.runtime.bootstrap import open_engine
from anew.runtime.command_executor import execute
from anew.runtime.commands import StartRun
from anew.runtime.engine import Engine
from anew.runtime.programs import compiled_again, read_document
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.store import RunFilter, RunId, StoredProgram
from anew.stores.memory import MemoryDatabase

# Read in the other dialect it would be another graph: there an ellipse is no end.
GRAPH = """digraph g {
  model_stylesheet = "styles.css"
  start [shape=ellipse]
  ask   [shape=house label="Go on?"]
  work  [prompt_file="work.md"]
  done  [shape=ellipse]
  start -> ask
  ask -> work [label="Yes"]
  work -> done
}"""
STYLES, PROMPT = "* { llm_model: kept }", "Do what was asked."


def written(folder: Path) -> Path:
    (folder / "styles.css").write_text(STYLES)
    (folder / "work.md").write_text(PROMPT)
    (folder / "g.dot").write_text(GRAPH)
    return folder / "g.dot"


def removed(folder: Path) -> None:
    for name in ("styles.css", "work.md", "g.dot"):
        (folder / name).unlink()


async def still(engine: Engine, run: RunId) -> None:
    assert await asyncio.wait_for(engine.people.until_blocked(run), 20)


async def answered(engine: Engine, run: RunId) -> list[Event]:
    """What happens when the question of a run is answered."""
    await engine.people.answer(run, "Yes")
    await engine.adopt([run])
    state = await asyncio.wait_for(engine.wait(run), 20)
    assert state.status is RunStatus.DONE
    return await read_log(engine.database.archive, run)


def inputs_of(log: Sequence[Event], step: str) -> dict:
    (started,) = [x for x in log if isinstance(x, TaskStarted) and x.step == step]
    return started.inputs


def test_a_run_goes_on_elsewhere_when_the_files_of_its_graph_are_gone(tmp_path: Path) -> None:
    file, database = written(tmp_path), str(tmp_path / "runs.db")

    async def begin() -> tuple[RunId, str]:
        async with open_engine(database) as engine:
            document = read_document(file.read_text(), str(file), dialect="docs")
            run = (await engine.start(StartRequest(document, {}))).run
            await still(engine, run)
            return run, document.program.digest

    async def go_on(run: RunId) -> list[Event]:
        async with open_engine(database) as engine:
            return await answered(engine, run)

    run, digest = asyncio.run(begin())
    removed(tmp_path)
    log = asyncio.run(go_on(run))
    first = log[0]
    assert isinstance(first, RunRequested)
    assert (first.digest, first.dialect) == (digest, "docs")
    told = inputs_of(log, "work")
    assert (told["model"], told["prompt"]) == ("kept", PROMPT)


KILLED = """
import asyncio, sys
from anew.runtime.run_starts import StartRequest
from anew.runtime.bootstrap import open_engine
from anew.runtime.programs import read_document

async def main(database, file):
    async with open_engine(database) as engine:
        document = read_document(open(file).read(), file, dialect="docs")
        run = (await engine.start(StartRequest(document, {}))).run
        await engine.people.until_blocked(run)
        print(run, flush=True)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_run_whose_process_was_killed_goes_on_without_the_files(tmp_path: Path) -> None:
    file, database = written(tmp_path), str(tmp_path / "runs.db")
    words = [sys.executable, "-c", KILLED, database, str(file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        run = RunId(int(process.stdout.readline()))
        os.kill(process.pid, signal.SIGKILL)
    removed(tmp_path)

    async def go_on() -> list[Event]:
        async with open_engine(database) as engine:
            return await answered(engine, run)

    assert inputs_of(asyncio.run(go_on()), "work")["prompt"] == PROMPT


def test_a_registered_graph_is_started_and_retried_without_its_files(tmp_path: Path) -> None:
    file, database = written(tmp_path), str(tmp_path / "runs.db")

    async def begin() -> None:
        async with open_engine(database) as engine:
            await engine.programs.register(
                read_document(file.read_text(), str(file), dialect="docs")
            )

    async def go_on() -> list[Event]:
        async with open_engine(database) as engine:
            document = await engine.programs.find("g")
            run = (await engine.start(StartRequest(document, {}))).run
            await still(engine, run)
            await answered(engine, run)
        async with open_engine(database) as engine:
            again = (await engine.retry(run, "ask")).run
            await still(engine, again)
            return await answered(engine, again)

    asyncio.run(begin())
    removed(tmp_path)
    assert inputs_of(asyncio.run(go_on()), "work")["model"] == "kept"


def test_the_owner_of_a_database_compiles_what_another_terminal_has_read(tmp_path: Path) -> None:
    async def ask() -> None:
        engine = Engine(MemoryDatabase(), tmp_path)
        files = {"styles.css": STYLES, "work.md": PROMPT}
        command = StartRun(source=GRAPH, file="/nowhere/g.dot", dialect="docs", files=files)
        try:
            run = RunId(int((await execute(engine, command))["run"]))
            await still(engine, run)
            row = await engine.database.archive.run(run)
            assert row is not None
            stored = await engine.database.catalog.get(row.digest)
            assert stored is not None
            assert (stored.dialect, stored.files) == ("docs", files)
        finally:
            await engine.stop(0)

    asyncio.run(ask())


# --- what code adds ------------------------------------------------------------------------------

OWN = "digraph own { start [shape=Mdiamond]; a [type=own]; end [shape=Msquare]; start -> a -> end }"
PLAIN = OWN.replace("[type=own]", "[shape=parallelogram, tool_command=ls]")


def refuses(graph: Graph) -> list[Finding]:
    return [Finding(Severity.ERROR, "own.never", "this is never right", graph.span)]


def renamed(graph: Graph) -> Graph:
    return replace(graph, name="renamed")


TYPE = calling("own", "noop", lambda node: {"result": node.id})
EXTENSIONS = Extensions(types=[TYPE])


def kept(text: str, extensions: Extensions | None = None) -> StoredProgram:
    document = read_document(text, "own.dot", extensions=extensions)
    program = document.program
    return StoredProgram(
        program.digest, program.name, 0, text, document.file, 0, document.dialect, document.files
    )


@pytest.mark.parametrize(
    "extensions",
    [
        None,
        Extensions(),
        Extensions(types=[calling("other", "noop", lambda node: {})]),
        Extensions(types=[TYPE], version="2"),
        Extensions(types=[TYPE], transforms=[renamed]),
    ],
)
def test_a_program_is_not_compiled_with_other_extensions(extensions: Extensions | None) -> None:
    stored = kept(OWN, EXTENSIONS)
    with pytest.raises(ConfigError, match=r"'own' \(\w{12}\) was compiled with extensions"):
        compiled_again(stored, extensions)


def test_a_program_is_compiled_with_its_extensions_whatever_rules_say_by_now() -> None:
    stricter = replace(EXTENSIONS, rules=[refuses])
    with pytest.raises(ProgramError, match="never right"):
        read_document(OWN, "own.dot", extensions=stricter)
    assert (
        compiled_again(kept(OWN, EXTENSIONS), stricter).program.steps["a"].tasks[0].kind == "noop"
    )


def test_a_program_that_owes_nothing_to_code_is_compiled_without_it() -> None:
    document = compiled_again(kept(PLAIN), replace(EXTENSIONS, transforms=[renamed]))
    assert document.program.name == "own"


def test_an_engine_compiles_the_children_of_its_runs_with_its_extensions(tmp_path: Path) -> None:
    (tmp_path / "own.dot").write_text(OWN)
    parent = "workflow: [{step: a, tool: {kind: playbook, file: own.dot}}]"

    async def play() -> None:
        database = MemoryDatabase()
        engine = Engine(database, tmp_path / "scratch", extensions=EXTENSIONS)
        try:
            document = read_document(parent, str(tmp_path / "parent.yaml"))
            run = (await engine.start(StartRequest(document, {}))).run
            state = await asyncio.wait_for(engine.wait(run), 20)
            assert state.status is RunStatus.DONE
        finally:
            await engine.stop(0)
        # Another engine on the same catalog goes on with both; one without them is refused.
        (child,) = [
            row for row in await database.archive.runs(RunFilter()) if row.parent is not None
        ]
        knowing = Engine(database, tmp_path / "scratch", extensions=EXTENSIONS)
        ignorant = Engine(database, tmp_path / "scratch")
        try:
            assert (await knowing.programs.get(child.digest)).program.name == "own"
            with pytest.raises(ConfigError, match="compiled with extensions"):
                await ignorant.programs.get(child.digest)
        finally:
            await knowing.stop(0)
            await ignorant.stop(0)

    asyncio.run(play())
