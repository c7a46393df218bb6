"""The `mcp` tool against a real server on standard streams, and one on HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from anew.engine.outcome import Outcome
from anew.tool import Call, Timeout
from anew.tools.mcp import McpTool
from anew.tools.mcp.servers import SERVERS_FILE
from tests.tools import mcp_server
from tests.tools.answering import Answer, Heard, answering
from tests.tools.sql_calls import (
    SOON_SECONDS,
    SqlTool,
    call_of,
    cancel,
    error_of,
    outcomes,
    play,
    result_of,
    until,
)

PROGRAM = Path(mcp_server.__file__)


def mcp_call(folder: Path, server: Any, tool: Any, args: Any = None, **more: Any) -> Call:
    return call_of(folder, "mcp", server=server, tool=tool, args=args, **more)


def asked(folder: Path, server: Any, tool: Any, args: Any = None, **more: Any) -> Outcome:
    [outcome] = outcomes(McpTool, mcp_call(folder, server, tool, args, **more))
    return outcome


def stdio(how: str = "") -> list[str]:
    return [sys.executable, str(PROGRAM), how]


# --- what a tool gives ---------------------------------------------------------------------------


def test_structured_content_is_the_result(tmp_path: Path) -> None:
    assert result_of(asked(tmp_path, stdio(), "add", {"a": 2, "b": 3})) == {"sum": 5}


def test_texts_are_one_text_and_other_content_a_list(tmp_path: Path) -> None:
    assert asked(tmp_path, stdio(), "echo", {"texts": ["a", "b"]}).result == "a\nb"
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert asked(tmp_path, stdio(), "picture").result == [picture]


def test_a_tool_that_failed_is_an_error_and_keeps_its_text(tmp_path: Path) -> None:
    outcome = asked(tmp_path, stdio(), "fail")
    assert error_of(outcome)["kind"] == "tool_error"
    assert error_of(outcome)["message"] == "no stock left"
    assert outcome.result == "no stock left"


@pytest.mark.parametrize("how", ["", "polite"])
def test_an_unknown_tool_is_a_reference_with_the_nearest_name(tmp_path: Path, how: str) -> None:
    error = error_of(asked(tmp_path, stdio(how), "ad"))
    assert error["kind"] == "reference"
    assert error["message"] == "the MCP server has no tool 'ad'; did you mean 'add'?"


# --- the program ---------------------------------------------------------------------------------


def test_a_server_is_given_its_environment_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "not for others")
    server = {"command": sys.executable, "args": [str(PROGRAM)], "env": {"THEIRS": "t-1"}}
    assert asked(tmp_path, server, "env", {"name": "THEIRS"}).result == "t-1"
    assert asked(tmp_path, server, "env", {"name": "OURS"}).result == "unset"


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("dies", "connection", "exit status 3: out of paper"),
        ("chatter", "tool_error", "sent something that is not a message: 'Listening on stdio"),
        ("future", "config", "speaks the protocol '2099-01-01'"),
    ],
)
def test_a_server_that_misbehaves_is_an_error_in_words(
    tmp_path: Path, how: str, kind: str, words: str
) -> None:
    error = error_of(asked(tmp_path, stdio(how), "add", {"a": 1, "b": 2}))
    assert error["kind"] == kind
    assert words in error["message"]


def test_an_older_revision_is_spoken_and_questions_are_answered(tmp_path: Path) -> None:
    assert asked(tmp_path, stdio("old"), "add", {"a": 1, "b": 1}).result == {"sum": 2}
    call = mcp_call(tmp_path, stdio("asks"), "add", {"a": 1, "b": 1})
    [outcome] = outcomes(McpTool, call)
    assert result_of(outcome) == {"sum": 2}
    answers = [json.loads(line) for line in call.printed["stderr"].splitlines()]
    assert answers[0] == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert (answers[1]["id"], answers[1]["error"]["code"]) == (8, -32601)


def test_no_process_outlives_a_call_that_is_cancelled(tmp_path: Path) -> None:
    # The last word only tells its processes from those of other tests.
    call = mcp_call(tmp_path, [*stdio("lingers"), str(tmp_path)], "add", {"a": 1, "b": 1})

    async def scene(tool: SqlTool) -> None:
        task = asyncio.create_task(tool.call(call))
        await until(lambda: len(_with(str(tmp_path))) == 2)
        await cancel(task)
        await until(lambda: not _with(str(tmp_path)))

    play(McpTool, scene)


def test_no_process_is_left_by_a_call_that_is_cancelled_at_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = mcp_call(tmp_path, [*stdio("silent"), str(tmp_path)], "add")

    async def never(*_: Any) -> None:
        await asyncio.Event().wait()

    async def scene(tool: SqlTool) -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "connect_read_pipe", never)
        task = asyncio.create_task(tool.call(call))
        await until(lambda: len(_with(str(tmp_path))) == 1)
        await cancel(task)
        assert not _with(str(tmp_path))

    play(McpTool, scene)


def _with(words: str) -> list[str]:
    """The processes whose command line has these words."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if words in line:
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize(
    ("server", "more", "words"),
    [
        (["/no/such/program"], {}, "exit status 127"),
        ({"command": []}, {}, "`server.command` must be a program"),
        ({"command": ["a"], "arg": 1}, {}, "`server` has the key 'arg'"),
        ({"url": "ftp://x"}, {}, "must start with http:// or https://"),
        (7, {}, "`server` must be an address"),
        ("nobody", {}, "there is no MCP server 'nobody'"),
        (["true"], {"auth": {"type": "bearer", "token": "x"}}, "give a command its `env`"),
        (["true"], {"args": [1]}, "`args` must be a mapping"),
        (["true"], {"tool": 3}, "`tool` must be the name"),
    ],
)
def test_inputs_that_cannot_be_used_are_refused_in_words(
    tmp_path: Path, server: Any, more: dict[str, Any], words: str
) -> None:
    call = call_of(tmp_path, "mcp", **{"server": server, "tool": "add", **more})
    [outcome] = outcomes(McpTool, call)
    assert words in error_of(outcome)["message"]


def test_a_name_is_looked_up_in_the_file_of_the_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "servers.json"
    lab = {"command": sys.executable, "args": [str(PROGRAM)]}
    file.write_text(json.dumps({"mcpServers": {"lab": lab}}))
    monkeypatch.setenv(SERVERS_FILE, str(file))
    assert asked(tmp_path, "lab", "add", {"a": 1, "b": 1}).result == {"sum": 2}
    assert "no server 'lob'; it has lab" in error_of(asked(tmp_path, "lob", "add"))["message"]
    file.write_text("{")
    assert "it is not JSON" in error_of(asked(tmp_path, "lab", "add"))["message"]


# --- over HTTP -----------------------------------------------------------------------------------


def in_json(heard: Heard) -> Answer:
    said = mcp_server.answer(heard.body, "") if heard.body else None
    if said is None:
        return Answer("", 202)
    return Answer(said, headers={"Mcp-Session-Id": "s-1"})


def in_a_stream(heard: Heard) -> Answer:
    found = in_json(heard)
    if found.status == 202:
        return found
    noise = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress"})
    text = f": hello\n\nevent: message\ndata: {noise}\n\ndata: {json.dumps(found.body)}\n\n"
    return Answer(text, headers={**found.headers, "Content-Type": "text/event-stream"})


@pytest.mark.parametrize("answer", [in_json, in_a_stream])
def test_a_server_answers_over_http(tmp_path: Path, answer: Callable[[Heard], Answer]) -> None:
    auth = {"type": "bearer", "token": "t-123456"}
    with answering(answer) as (url, heard):
        server = {"url": f"{url}/mcp", "headers": {"X-Of": "me"}}
        outcome = asked(tmp_path, server, "add", {"a": 2, "b": 2}, auth=auth)
    assert result_of(outcome) == {"sum": 4}
    methods = [one.body and one.body["method"] for one in heard]
    assert methods == ["initialize", "notifications/initialized", "tools/call", None]
    assert "mcp-session-id" not in heard[0].headers
    for one in heard:
        assert one.headers["authorization"] == "Bearer t-123456"
        assert one.headers["x-of"] == "me"
    for one in heard[1:]:
        assert one.headers["mcp-session-id"] == "s-1"
        assert one.headers["mcp-protocol-version"] == "2025-11-25"


@pytest.mark.parametrize(
    ("found", "kind", "words"),
    [
        (Answer({}, 401), "auth", "HTTP 401 Unauthorized from POST"),
        (Answer({}, 503), "server_error", "HTTP 503 Service Unavailable"),
        (Answer({}, 529), "server_error", "HTTP 529 Server Error from POST"),
        (Answer("<html>", 200), "tool_error", "sent something that is not a message: '<html>'"),
        (Answer('{"id": NaN}', 200), "tool_error", "not a message: '{\"id\": NaN}' (JSON is mal"),
        (Answer({"jsonrpc": "2.0", "id": 99, "result": {}}), "connection", "without answer"),
    ],
)
def test_errors_over_http_have_their_kinds(
    tmp_path: Path, found: Answer, kind: str, words: str
) -> None:
    with answering(lambda _: found) as (url, _):
        error = error_of(asked(tmp_path, url, "add"))
    assert error["kind"] == kind
    assert words in error["message"]


@pytest.mark.parametrize(
    ("method", "result", "words"),
    [
        ("tools/call", {"content": 5}, "answer to tools/call has `content` that is not a list"),
        ("tools/call", {"content": ["x"]}, "answer to tools/call has `content` that is not a list"),
        ("tools/list", {"tools": ["x"]}, "refused tools/call: Unknown tool: ad"),
    ],
)
def test_an_answer_of_another_shape_is_an_error_in_words(
    tmp_path: Path, method: str, result: Any, words: str
) -> None:
    def answer(heard: Heard) -> Answer:
        found = in_json(heard)
        if heard.body and heard.body["method"] == method:
            return Answer({"jsonrpc": "2.0", "id": heard.body["id"], "result": result})
        return found

    with answering(answer) as (url, _):
        error = error_of(asked(tmp_path, url, "ad"))
    assert error["kind"] == "tool_error"
    assert words in error["message"]


@pytest.mark.parametrize("form", ["7", "date"])
def test_how_long_a_server_asks_to_wait_is_in_the_error(tmp_path: Path, form: str) -> None:
    wish = form if form == "7" else formatdate(time.time() + 100, usegmt=True)
    with answering(lambda _: Answer({}, 429, {"Retry-After": wish})) as (url, _):
        error = error_of(asked(tmp_path, url, "add"))
    assert (error["kind"], error["code"]) == ("rate_limit", 429)
    assert error["retry_after"] == 7 if form == "7" else 90 < error["retry_after"] <= 100


def _failing(heard: Heard) -> Answer:
    is_call = heard.body and heard.body["method"] == "tools/call"
    return Answer({}, 503) if is_call else in_json(heard)


def test_a_session_is_ended_after_a_failure(tmp_path: Path) -> None:
    with answering(_failing) as (url, heard):
        assert error_of(asked(tmp_path, url, "add"))["kind"] == "server_error"
    assert (heard[-1].body, heard[-1].headers["mcp-session-id"]) == (None, "s-1")


def test_a_session_is_ended_when_its_call_is_cancelled(tmp_path: Path) -> None:
    is_called, may_end = threading.Event(), threading.Event()

    def answer(heard: Heard) -> Answer:
        if heard.body and heard.body["method"] == "tools/call":
            is_called.set()
            may_end.wait(SOON_SECONDS)
        return in_json(heard)

    with answering(answer) as (url, heard):

        async def scene(tool: SqlTool) -> None:
            task = asyncio.create_task(tool.call(mcp_call(tmp_path, url, "add")))
            await until(is_called.is_set)
            await cancel(task)

        play(McpTool, scene)
        may_end.set()
        assert (heard[-1].body, heard[-1].headers["mcp-session-id"]) == (None, "s-1")


def test_nobody_there_is_a_connection_error(tmp_path: Path) -> None:
    error = error_of(asked(tmp_path, "http://127.0.0.1:1/mcp", "add"))
    assert error["kind"] == "connection"
    assert "connection" in error["message"]


def test_the_guard_keeps_calls_away_from_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_HTTP_GUARD", "1")
    with answering(in_json) as (url, heard):
        error = error_of(asked(tmp_path, url, "add", timeout=Timeout(20.0)))
    assert (error["kind"], "ANEW_HTTP_GUARD" in error["message"]) == ("config", True)
    assert heard == []
