"""Where the texts of scripts come from, and what is told of those that cannot be had."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anew.tool import Call
from anew.tools import scripts
from anew.tools.scripts import SCRIPT_BYTES_MAX, ScriptFailure, Scripts
from anew.tools.sqlite import SqliteTool
from tests.tools import sql_calls
from tests.tools.code_calls import call_of, with_python
from tests.tools.http_world import a_server, run

TEXT = b"HTTP/1.1 %s\r\ncontent-type: text/x-python\r\ncontent-length: %d\r\n\r\n%s"


def answering(body: bytes, status: bytes = b"200 OK") -> bytes:
    return TEXT % (status, len(body), body)


def read(folder: Path, script: Any) -> str:
    return run(_with_scripts(lambda found: found.read(call_of("sqlite", folder, script=script))))


async def _with_scripts(work: Callable[[Scripts], Awaitable[str]]) -> str:
    found = Scripts()
    try:
        return await work(found)
    finally:
        await found.close()


def error(folder: Path, script: Any) -> dict[str, Any]:
    with pytest.raises(ScriptFailure) as failed:
        read(folder, script)
    found: dict[str, Any] = failed.value.outcome.error
    return found


def source(kind: str, uri: str | None = "work.sql", **more: Any) -> dict[str, Any]:
    return {"uri": uri, "source": {"type": kind, **more}}


@pytest.fixture(name="folders")
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The one of the document, and the one the process works in."""
    beside, here = tmp_path / "beside", tmp_path / "here"
    for folder in (beside, here):
        folder.mkdir()
    monkeypatch.chdir(here)
    return beside, here


def test_a_file_is_looked_for_beside_the_document_and_then_here(folders: tuple[Path, Path]) -> None:
    beside, here = folders
    (here / "work.sql").write_text("here")
    assert read(beside, "work.sql") == "here"
    (beside / "work.sql").write_text("beside")
    assert read(beside, "work.sql") == "beside"
    assert read(beside, source("file", str(here / "work.sql"))) == "here"


def test_a_missing_file_is_a_reference_that_names_where_it_was_looked_for(
    folders: tuple[Path, Path],
) -> None:
    beside, here = folders
    found = error(beside, "work.sql")
    assert found["kind"] == "reference"
    assert str(beside / "work.sql") in found["message"]
    assert str(here / "work.sql") in found["message"]
    code = with_python(lambda tool: tool.call(call_of("python", beside, script="work.sql")))
    assert code.error == found


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (".", "config"),
        ("latin", "config"),
        ("long", "limit_exceeded"),
        ("a\0b", "config"),
        (7, "config"),
        ({"uri": "x"}, "config"),
        (source("ftp"), "config"),
        (source("s3", "s3://b/x"), "config"),
        (source("inline"), "config"),
        (source("http", timeout="soon"), "config"),
        (source("http", endpoint="ftp://x"), "config"),
    ],
)
def test_what_is_no_script_is_refused_with_its_kind(tmp_path: Path, script: Any, kind: str) -> None:
    (tmp_path / "latin").write_bytes(b"\xe4\xff")
    (tmp_path / "long").write_bytes(b"x" * (SCRIPT_BYTES_MAX + 1))
    assert error(tmp_path, script)["kind"] == kind


def test_a_python_script_that_is_too_long_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"#" * (SCRIPT_BYTES_MAX + 1))
    found = with_python(lambda tool: tool.call(call_of("python", tmp_path, script="long")))
    assert found.error["kind"] == "limit_exceeded"


def test_code_over_http_is_run_and_its_credential_is_sent(tmp_path: Path) -> None:
    async def play() -> None:
        async with a_server(answering(b"result = {'n': n + 1}")) as server:
            auth = {"type": "bearer", "token": "open-sesame"}
            script = source("http", endpoint=server.url, auth=auth, headers={"x-a": "b"})
            call = call_of("python", tmp_path, script=script, args={"n": 1})
            assert (await _python(call)) == {"n": 2}
            assert b"Bearer open-sesame" in server.heard[0]
            assert b"x-a: b" in server.heard[0]

    run(play())


async def _python(call: Call) -> Any:
    from anew.tools.python.tool import PythonTool

    tool = PythonTool()
    try:
        return (await tool.call(call)).result
    finally:
        await tool.close()


def test_an_address_that_fails_gives_its_own_kind(tmp_path: Path) -> None:
    async def play() -> str:
        async with a_server(answering(b"busy", b"503 Service Unavailable")) as server:
            return await _with_scripts(
                lambda found: found.read(
                    call_of("sqlite", tmp_path, script=source("http", server.url))
                )
            )

    with pytest.raises(ScriptFailure) as failed:
        run(play())
    found = failed.value.outcome.error
    assert (found["kind"], found["code"], found["retryable"]) == ("server_error", 503, True)
    assert found["message"].startswith("HTTP 503")


def test_addresses_are_guarded_as_those_of_http_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_HTTP_GUARD", "1")
    assert "ANEW_HTTP_ALLOW" in error(tmp_path, source("http", "http://127.0.0.1:9/x"))["message"]


def test_an_address_that_never_answers_is_a_timeout(tmp_path: Path) -> None:
    async def silent(_head: bytes, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def play() -> str:
        async with a_server(silent) as server:
            script = source("http", server.url, timeout=0.05)
            return await _with_scripts(
                lambda found: found.read(call_of("sqlite", tmp_path, script=script))
            )

    with pytest.raises(ScriptFailure, match=r"timeout: the script of count did not come in 0.05 s"):
        run(play())


def test_a_package_brings_sources_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(uri: str, said: dict[str, Any]) -> bytes:
        if uri == "s3://b/none":
            raise LookupError("no such key")
        return f"{uri} {said['region']}".encode()

    def points(*, group: str, name: str) -> list[Any]:
        assert group == "anew.scripts"
        return [SimpleNamespace(load=lambda: fetch)] if name == "s3" else []

    monkeypatch.setattr(metadata, "entry_points", points)
    assert read(tmp_path, source("s3", "s3://b/x", region="eu")) == "s3://b/x eu"
    found = error(tmp_path, source("s3", "s3://b/none"))
    assert found["kind"] == "reference"
    assert "no such key" in found["message"]


def test_sql_of_a_script_is_rendered_and_its_values_are_bound(tmp_path: Path) -> None:
    (tmp_path / "work.sql").write_text("SELECT {{ n }} AS a, :b AS b")

    async def render(text: str) -> str:
        return text.replace("{{ n }}", "7")

    call = sql_calls.call_of(tmp_path, script="work.sql", params={"b": "x'"})
    (outcome,) = sql_calls.outcomes(SqliteTool, scripts.replace(call, render=render))
    assert sql_calls.rows_of(outcome) == [{"a": 7, "b": "x'"}]
    (missing,) = sql_calls.outcomes(SqliteTool, sql_calls.call_of(tmp_path, script="none.sql"))
    assert sql_calls.error_of(missing)["kind"] == "reference"
