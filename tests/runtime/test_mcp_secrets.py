"""What the operator's list of MCP servers holds for them is in no log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anew.stores.codec import encode_events
from anew.tools.mcp.servers import SERVERS_FILE
from tests.runtime.test_control import in_a_world
from tests.tools.answering import Answer, Heard, answering

SECRET = "sup3rs3cretvalue"
FLOW = """
metadata: {name: asking}
workflow:
  - step: ask
    tool:
      - call: {kind: mcp, server: lab, tool: add}
"""


def _message_of_run(tmp_path: Path) -> str:
    """What the call came to; its log has no secret."""
    told: list[str] = []

    async def work(world: Any) -> None:
        run = await world.start(FLOW)
        state = await world.ended(run)
        told.append(state.failure["message"])
        log, _ = encode_events(await world.log(run), after=0)
        assert all(SECRET not in event.data for event in log)

    in_a_world(work, tmp_path)
    return told[0]


def _list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: dict[str, Any]) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"lab": server}}))
    monkeypatch.setenv(SERVERS_FILE, str(file))


def test_a_variable_that_a_program_prints_is_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo token is $TOKEN, level $LEVEL >&2; exit 3"
    env = {"TOKEN": SECRET, "LEVEL": "3"}
    _list(tmp_path, monkeypatch, {"command": "sh", "args": ["-c", script], "env": env})
    message = _message_of_run(tmp_path)
    assert "exit status 3: token is [redacted], level 3" in message


def test_a_header_field_that_a_server_tells_is_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(heard: Heard) -> Answer:
        token = heard.headers["authorization"].removeprefix("Bearer ")
        return Answer(f"who is {token}?")

    with answering(answer) as (url, _):
        headers = {"Authorization": f"Bearer {SECRET}", "Accept": "application/json"}
        _list(tmp_path, monkeypatch, {"url": url, "headers": headers})
        message = _message_of_run(tmp_path)
    assert "not a message: 'who is [redacted]?'" in message
