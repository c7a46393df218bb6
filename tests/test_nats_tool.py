"""The example package `nats`: its tool against a real server of NATS."""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anew.engine.outcome import Outcome
from anew.tool import AttemptRef, Call, Timeout
from tests.test_own_tool import anew
from tests.tools.sql_calls import error_of, result_of

PACKAGE = Path(__file__).resolve().parent.parent / "examples/nats_tool"
PLACES = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
SERVER = shutil.which("nats-server", path=os.pathsep.join(PLACES))
DOCUMENT = """
workflow:
  - step: start
    tool: {kind: nats, auth: my_nats, operation: kv_put, bucket: b, key: k, value: {a: 1}}
"""
USER = {"user": "clerk", "password": "p-123456"}


def test_the_package_registers_the_kind() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["anew.tools"] == {"nats": "anew_nats:NatsTool"}


def test_the_kind_is_refused_in_words_until_its_package_is_installed(tmp_path: Path) -> None:
    document = tmp_path / "cache.yaml"
    document.write_text(DOCUMENT, encoding="utf-8")
    before = anew("check", str(document), path=[])
    assert before.returncode == 2
    assert "tool kind 'nats' needs NATS" in before.stdout
    assert "the entry point `anew.tools`" in before.stdout
    folder = tmp_path / "anew_nats-0.1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[anew.tools]\nnats = anew_nats:NatsTool\n")
    (folder / "METADATA").write_text("Name: anew-nats\nVersion: 0.1.0\n")
    after = anew("check", str(document), path=[tmp_path])
    assert after.returncode == 0, after.stdout + after.stderr


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real server, which asks for a user."""
    folder = tmp_path_factory.mktemp("nats")
    ports = folder / "ports"
    ports.mkdir()
    words = [
        "-a",
        "127.0.0.1",
        "-p",
        "-1",
        "-js",
        "-sd",
        str(folder),
        "--ports_file_dir",
        str(ports),
    ]
    words += ["--user", USER["user"], "--pass", USER["password"]]
    with subprocess.Popen([str(SERVER), *words], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            address = next(_addresses(server.stderr))
            yield f"nats://{address}"
        finally:
            server.terminate()
            server.stderr.read()


def _addresses(lines: Iterator[str]) -> Iterator[str]:
    """What the server says it listens on, once it is ready for clients."""
    found = ""
    for line in lines:
        if "Listening for client connections on" in line:
            found = line.rsplit(" ", 1)[1].strip()
        if "Server is ready" in line:
            yield found


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(PACKAGE / "src")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return importlib.import_module("anew_nats").NatsTool()


def called(
    tool: Any, url: str, *, visit: str = "run:1", auth: Any = None, **inputs: Any
) -> Outcome:
    place = AttemptRef("run", "s", 1, None, "t", 1)
    auth = {"url": url, **USER} if auth is None else auth
    here = Path()
    call = Call("nats", {"auth": auth, **inputs}, place, visit, 0, Timeout(20.0), here, here)
    outcome: Outcome = asyncio.run(tool.call(call))
    return outcome


def made(url: str, what: str, **config: Any) -> None:
    """Make a bucket or a stream, as an operator does."""
    nats = importlib.import_module("nats")

    async def make() -> None:
        client = await nats.connect(url, **USER)
        await getattr(client.jetstream(), what)(**config)
        await client.close()

    asyncio.run(make())


def test_values_are_put_got_listed_and_deleted(tool: Any, url: str) -> None:
    made(url, "create_key_value", bucket="sessions")
    at = {"bucket": "sessions", "key": "s1"}
    put = called(tool, url, operation="kv_put", value={"user": 7}, **at)
    assert result_of(put) == {**at, "revision": 1}
    got = called(tool, url, operation="kv_get", **at)
    assert result_of(got) == {**at, "value": {"user": 7}, "revision": 1}
    keys = called(tool, url, operation="kv_keys", bucket="sessions")
    assert result_of(keys) == {"bucket": "sessions", "keys": ["s1"]}
    called(tool, url, operation="kv_delete", **at)
    assert error_of(called(tool, url, operation="kv_get", **at))["kind"] == "not_found"
    empty = called(tool, url, operation="kv_keys", bucket="sessions")
    assert result_of(empty)["keys"] == []


def test_a_message_that_is_published_again_is_kept_once(tool: Any, url: str) -> None:
    made(url, "add_stream", name="orders", subjects=["orders.>"])
    first, again = (
        called(tool, url, operation="js_publish", subject="orders.new", data={"n": 1})
        for _ in range(2)
    )
    assert result_of(first) == {"stream": "orders", "seq": 1, "duplicate": False}
    assert result_of(again) == {"stream": "orders", "seq": 1, "duplicate": True}


def test_failures_have_their_kinds(tool: Any, url: str) -> None:
    nothing = called(tool, url, operation="kv_get", bucket="none", key="x")
    assert error_of(nothing)["kind"] == "reference"
    stranger = {"url": url, "user": "clerk", "password": "wrong"}
    refused = called(tool, url, auth=stranger, operation="kv_keys", bucket="b")
    assert error_of(refused)["kind"] == "auth"
    assert error_of(called(tool, url, operation="kv_put", bucket="b"))["kind"] == "config"
    assert error_of(called(tool, url, operation="drop"))["kind"] == "config"
    assert error_of(called(tool, url, auth={"token": "t"}, operation="kv_keys"))["kind"] == "config"


def test_nobody_there_is_a_connection_error(tool: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nowhere = f"nats://127.0.0.1:{taken.getsockname()[1]}"
        error = error_of(called(tool, nowhere, operation="kv_keys", bucket="b"))
    assert error["kind"] == "connection"
    assert "connection" in error["message"]
