"""Commands that come as the owner of a file goes: carried out and answered, or left to the next."""

import asyncio
import json
import socket

import pytest

from anew.runtime.bootstrap import open_engine
from anew.runtime.command_executor import execute
from anew.runtime.commands import ChangeRuns, ResumeAll
from anew.runtime.control_socket import NoAnswer, send_command
from anew.runtime.databases import open_database
from anew.runtime.ownership import socket_path
from anew.store import RunFilter

HELLO = "workflow: [{step: greet, tool: {kind: noop}}]"
# More turns of the loop than pass from a connection to the moment its command is read.
TURNS = 12
SECONDS_MAX = 20


def connected(database):
    """As another process would be: without a turn of this loop."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(SECONDS_MAX)
    client.connect(str(socket_path(database)))
    return client


def said(client):
    """What the owner said until it hung up."""
    with client:
        try:
            return b"".join(iter(lambda: client.recv(65_536), b""))
        except ConnectionResetError:
            return b""


async def runs_in(database):
    async with open_database(str(database), read_only=True) as opened:
        return [str(row.run) for row in await opened.archive.runs(RunFilter())]


@pytest.mark.parametrize("turns", range(TURNS))
def test_a_command_that_comes_as_the_owner_goes_is_answered_or_left_to_the_next(tmp_path, turns):
    database = tmp_path / "anew.db"

    async def play():
        async with open_engine(str(database)):
            client = connected(database)
            command = {"do": "start", "source": HELLO, "file": str(tmp_path / "hello.yaml")}
            client.sendall(json.dumps(command).encode() + b"\n")
            for _ in range(turns):
                await asyncio.sleep(0)
        return client, await runs_in(database)

    client, runs = asyncio.run(play())
    line = said(client)
    assert runs == ([json.loads(line)["ok"]["run"]] if line else [])


@pytest.mark.parametrize("turns", range(TURNS))
def test_an_owner_does_not_wait_for_who_came_and_says_nothing(tmp_path, caplog, turns):
    database = tmp_path / "anew.db"

    async def play():
        async with asyncio.timeout(SECONDS_MAX), open_engine(str(database)):
            client = connected(database)
            for _ in range(turns):
                await asyncio.sleep(0)
        assert await asyncio.to_thread(said, client) == b""

    asyncio.run(play())
    assert caplog.text == ""


def test_a_command_whose_owner_stops_in_a_hurry_is_left_to_the_next(tmp_path, monkeypatch):
    database = tmp_path / "anew.db"
    is_heard, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(engine, _):
        is_heard.set()
        await goes_on.wait()
        return {"runs": len(await engine.database.archive.runs(RunFilter()))}

    monkeypatch.setattr("anew.runtime.control_socket.execute", slow)

    async def play():
        async with open_engine(str(database)) as engine:
            asking = asyncio.create_task(send_command(database, ResumeAll()))
            await is_heard.wait()
            stopping = asyncio.create_task(engine.stop())
            while socket_path(database).exists():
                await asyncio.sleep(0)
            stopping.cancel()
            await asyncio.wait({stopping})
        goes_on.set()
        with pytest.raises(NoAnswer):
            await asking

    asyncio.run(play())


def test_an_owner_that_dies_over_its_answer_has_given_none(tmp_path):
    database = tmp_path / "anew.db"

    async def dies(reader, writer):
        await reader.readline()
        writer.write(b'{"ok": {"ru')
        writer.close()

    async def play():
        async with await asyncio.start_unix_server(dies, path=socket_path(database)):
            with pytest.raises(NoAnswer, match="ended before it answered"):
                await send_command(database, ResumeAll())

    asyncio.run(play())


def test_a_bulk_command_reports_which_runs_are_not_there(tmp_path):
    async def play():
        async with open_engine(str(tmp_path / "anew.db")) as engine:
            return await execute(engine, ChangeRuns(name="cancel", runs=["5"]))

    refused = [{"run": "5", "detail": "there is no such run", "retried_as": None}]
    assert asyncio.run(play()) == {"changed": [], "refused": refused}
