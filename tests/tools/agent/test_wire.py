"""Both wire formats through their makers' libraries, against a server that speaks them."""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anew.engine.http_statuses import http_status_text
from anew.engine.outcome import MESSAGE_WORDS, Outcome
from anew.engine.verdicts import type_of
from anew.program.policy import Verdict
from anew.tool import Timeout
from anew.tools.agent import AgentTool
from anew.values import Object, Value
from tests.tools.agent.agent_calls import (
    Heard,
    ModelServer,
    a_call,
    a_model_server,
    agent,
    bounded,
    error_of,
)

KEY = "sk-a-key-that-must-not-be-seen"
AUTH = {"type": "openai", "api_key": KEY}
Said = tuple[int, dict[str, str], bytes]
FORMATS = ("openai", "anthropic")


def reply(name: str, text: str | None, *, stop: str = "", **more: Any) -> Object:
    """An answer in the wire format of this name."""
    if name == "openai":
        message = {"role": "assistant", "content": text, **more}
        choice = {"index": 0, "message": message, "finish_reason": stop or "stop"}
        usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
        return {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m-1-full",
            "choices": [choice],
            "usage": usage,
        }
    parts = (
        []
        if text is None
        else [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": text},
        ]
    )
    usage = {"input_tokens": 11, "output_tokens": 3}
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m-1-full",
        "content": parts,
        "stop_reason": stop or "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def ok(body: Value, **headers: str) -> Callable[[Heard], Said]:
    return lambda _: (200, headers, json.dumps(body).encode())


def refused(status: int, error: Object, **headers: str) -> Callable[[Heard], Said]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: (status, named, json.dumps({"type": "error", "error": error}).encode())


def asked(
    name: str,
    says: Callable[[Heard], Said | None],
    *,
    timeout: Timeout | None = None,
    **inputs: Value,
) -> tuple[Outcome, list[Heard]]:
    """The outcome of one call to a server that answers so, and what it heard."""

    async def session() -> tuple[Outcome, list[Heard]]:
        async with a_model_server(says) as server:
            tool = AgentTool()
            given = {
                "backend": name,
                "model": "m-1",
                "auth": AUTH,
                "base_url": address(name, server),
                **inputs,
            }
            try:
                return await tool.call(a_call(timeout=timeout, **given)), server.heard
            finally:
                await tool.close()

    return bounded(session())


def address(name: str, server: ModelServer) -> str:
    return f"{server.url}/v1" if name == "openai" else server.url


@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_is_a_text_with_its_model_and_its_cost(name: str) -> None:
    outcome, (heard,) = asked(name, ok(reply(name, "Hello.")))
    assert outcome.error is None
    assert outcome.result == {
        "text": "Hello.",
        "status": "success",
        "backend": name,
        "model": "m-1-full",
        "usage": {"input_tokens": 11, "output_tokens": 3},
        "stop": "stop" if name == "openai" else "end_turn",
    }
    assert heard.method == "POST"


def test_a_question_to_openai_says_everything_the_author_gave() -> None:
    history = [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}]
    _, (heard,) = asked(
        "openai", ok(reply("openai", "x")), fidelity="full", history=history, system="Be brief.", max_tokens="50",
        temperature=0.5, reasoning_effort="low", extra_body={"seed": 7},
    )  # fmt: skip
    assert heard.path == "/v1/chat/completions"
    assert heard.headers["authorization"] == f"Bearer {KEY}"
    assert heard.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "Say hello."},
        ],
        "max_completion_tokens": 50,
        "temperature": 0.5,
        "reasoning_effort": "low",
        "seed": 7,
    }


def test_a_question_to_anthropic_says_everything_the_author_gave() -> None:
    history = [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}]
    _, (heard,) = asked(
        "anthropic", ok(reply("anthropic", "x")), fidelity="full", history=history, system="Be brief.",
        max_tokens=200_000, temperature=0.5, reasoning_effort="low", extra_body={"top_k": 7},
    )  # fmt: skip
    assert heard.path == "/v1/messages"
    assert KEY in {
        heard.headers.get("x-api-key"),
        heard.headers["authorization"].removeprefix("Bearer "),
    }
    assert heard.body == {
        "model": "m-1",
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "Say hello."},
        ],
        "system": "Be brief.",
        "max_tokens": 200_000,
        "temperature": 0.5,
        "output_config": {"effort": "low"},
        "top_k": 7,
    }


@pytest.mark.parametrize("name", FORMATS)
def test_another_fidelity_than_full_puts_the_preamble_first(name: str) -> None:
    _, (heard,) = asked(name, ok(reply(name, "x")), fidelity="compact", preamble="So far: nothing.")
    assert heard.body["messages"] == [{"role": "user", "content": "So far: nothing.\n\nSay hello."}]
    assert "max_completion_tokens" not in heard.body


SPENT = {
    "message": "You exceeded your current quota",
    "type": "insufficient_quota",
    "code": "insufficient_quota",
}


@pytest.mark.parametrize(
    ("status", "error", "kind", "kind_of_type", "retryable"),
    [
        (400, {"message": "bad"}, "client_error", "TERMINAL", False),
        (401, {"message": "no"}, "auth", "TERMINAL", False),
        (402, {"type": "billing_error", "message": "pay"}, "client_error", "TERMINAL", False),
        (403, {"message": "no"}, "auth", "TERMINAL", False),
        (404, {"message": "no such model"}, "not_found", "TERMINAL", False),
        (408, {"message": "late"}, "timeout", "TIMEOUT", True),
        (413, {"message": "long"}, "client_error", "TERMINAL", False),
        (429, {"message": "slow down", "code": "rate_limit_exceeded"}, "rate_limit", "TRANSIENT", True),
        (429, SPENT, "client_error", "TERMINAL", False),
        (429, {"type": "billing_error", "message": "no credit"}, "client_error", "TERMINAL", False),
        (500, {"message": "oops"}, "server_error", "TRANSIENT", True),
        (503, {"message": "busy"}, "server_error", "TRANSIENT", True),
        (529, {"type": "overloaded_error", "message": "Overloaded"}, "server_error", "TRANSIENT", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", FORMATS)
def test_a_refusal_of_the_server_is_classified_and_sent_once(
    name: str, *, status: int, error: Object, kind: str, kind_of_type: str, retryable: bool
) -> None:
    outcome, heard = asked(name, refused(status, error))
    found = error_of(outcome)
    assert (found["kind"], type_of(found).value, found["retryable"]) == (
        kind,
        kind_of_type,
        retryable,
    )
    assert found["code"] == status
    assert error["message"] in found["message"]
    assert f"{http_status_text(status)} from POST http://127.0.0.1:" in found["message"]
    assert MESSAGE_WORDS.get(kind, "") in found["message"]
    # Nobody waits for a limit to pass that money has to lift.
    assert kind == "rate_limit" or "rate limit" not in found["message"]
    assert len(heard) == 1  # trying again is for the author's rules


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ({}, None),
    ],
)
def test_the_wait_the_server_asks_for_is_passed_on(
    name: str, headers: dict[str, str], seconds: float | None
) -> None:
    outcome, _ = asked(name, refused(429, {"message": "slow"}, **headers))
    assert error_of(outcome).get("retry_after") == seconds


@pytest.mark.parametrize("name", FORMATS)
def test_a_server_may_say_that_trying_again_does_not_help(name: str) -> None:
    outcome, _ = asked(name, refused(500, {"message": "no"}, x_should_retry="false"))
    assert error_of(outcome)["retryable"] is False


@pytest.mark.parametrize("name", FORMATS)
def test_a_key_that_the_server_repeats_is_not_in_the_error(name: str) -> None:
    outcome, _ = asked(name, refused(401, {"message": f"Incorrect API key provided: {KEY}."}))
    assert "Incorrect API key provided: [redacted]." in error_of(outcome)["message"]
    assert KEY not in repr(outcome)


@pytest.mark.parametrize(
    "body", [b"<html>bad gateway</html>", b"", b'{"error": "text"}', b'{"error": {"message": 5}}']
)
@pytest.mark.parametrize("name", FORMATS)
def test_a_refusal_in_another_form_is_classified_by_its_status(name: str, body: bytes) -> None:
    outcome, _ = asked(name, lambda _: (502, {"Content-Type": "text/html"}, body))
    assert (error_of(outcome)["kind"], error_of(outcome)["code"]) == ("server_error", 502)


@pytest.mark.parametrize(
    "body", [b"<html>hello</html>", b"{}", b'{"choices": []}', b'{"content": "text"}', b"[" * 9000]
)
@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_in_another_form_is_the_servers_error(name: str, body: bytes) -> None:
    outcome, _ = asked(name, lambda _: (200, {}, body))
    assert error_of(outcome)["kind"] == "server_error"
    assert "the answer is not a" in error_of(outcome)["message"]


@pytest.mark.parametrize(("name", "stop"), [("openai", "length"), ("anthropic", "max_tokens")])
def test_an_answer_that_was_cut_off_is_a_partial_success(name: str, stop: str) -> None:
    outcome, _ = asked(name, ok(reply(name, "Half a sent", stop=stop)))
    assert (outcome.verdict, outcome.result["status"], outcome.result["stop"]) == (
        Verdict.PARTIAL,
        "partial",
        stop,
    )


def test_a_refused_or_empty_answer_is_a_failure() -> None:
    for name, body in (
        ("openai", reply("openai", None, refusal="I cannot.")),
        ("anthropic", reply("anthropic", "I cannot.", stop="refusal")),
    ):
        outcome, _ = asked(name, ok(body))
        assert (error_of(outcome)["type"], error_of(outcome)["retryable"]) == ("TERMINAL", False)
        assert outcome.result["text"] == "I cannot."
    for name in FORMATS:
        outcome, _ = asked(name, ok(reply(name, None)))
        assert (error_of(outcome)["type"], error_of(outcome)["retryable"]) == ("UNKNOWN", None)


@pytest.mark.parametrize("name", FORMATS)
def test_a_model_may_end_its_answer_with_a_status(name: str) -> None:
    text = 'Reviewed.\n\n```json\n{"outcome": "success", "preferred_label": "Fix", "context_updates": {"n": 1}}\n```'
    outcome, _ = asked(name, ok(reply(name, text)))
    assert (outcome.label, outcome.updates) == ("Fix", {"n": 1})


# --- keys and addresses


@pytest.mark.parametrize(("name", "variable"), [("openai", "OPENAI"), ("anthropic", "ANTHROPIC")])
def test_the_key_of_the_environment_goes_only_where_the_environment_says(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{variable}_API_KEY", KEY)

    async def session() -> list[Heard]:
        async with a_model_server(ok(reply(name, "x"))) as server:
            tool = AgentTool()
            here = address(name, server)
            await tool.call(a_call(backend=name, model="m", base_url=here))
            monkeypatch.setenv(f"{variable}_BASE_URL", here)
            await tool.call(a_call(backend=name, model="m"))
            await tool.close()
            return server.heard

    stated, usual = bounded(session())
    assert KEY not in str(stated.headers)
    assert not {"authorization", "x-api-key"} & stated.headers.keys()
    assert KEY in str(usual.headers)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("field", ["api_key", "key", "token", "value"])
def test_a_credential_may_call_its_key_by_several_names(name: str, field: str) -> None:
    _, (heard,) = asked(name, ok(reply(name, "x")), auth={"type": "any", field: "k-1"})
    assert "k-1" in str(heard.headers)


def test_a_credential_may_hold_the_address_too() -> None:
    async def session() -> Outcome:
        async with a_model_server(ok(reply("openai", "x"))) as server:
            tool = AgentTool()
            auth = {**AUTH, "base_url": f"{server.url}/v1"}
            outcome = await tool.call(a_call(provider="openai", model="m", auth=auth))
            await tool.close()
            return outcome

    assert bounded(session()).result["backend"] == "openai"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "there is no key for"),
        ({"auth": {"type": "x", "password": "secret"}}, "the credential of `auth` has no api_key"),
        ({"auth": AUTH, "model": None}, "model is missing"),
        ({"auth": AUTH, "base_url": "ftp://secret@host/"}, "starts with http:// or https://"),
        ({"auth": AUTH, "base_url": "http://secret:x/"}, "starts with http:// or https://"),
        ({"auth": {**AUTH, "base_url": "secret"}}, "starts with http:// or https://"),
        ({"auth": AUTH, "base_url": 5}, "base_url must be a text"),
        ({"auth": AUTH, "extra_body": "x"}, "extra_body must be a mapping"),
    ],
)
def test_what_is_missing_is_a_config_error_that_tells_what_to_give(
    name: str, inputs: Object, words: str
) -> None:
    error = error_of(agent(**{"backend": name, "model": "m", **inputs}))
    assert error["kind"] == "config"
    assert words in error["message"]
    assert "secret" not in error["message"]
    if not inputs:
        assert f'{{"type": "{name}", "data": {{"api_key": "…"}}}}' in error["message"]
        assert f"{name.upper()}_API_KEY" in error["message"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_library_that_is_not_installed_is_named_with_the_remedy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    error = error_of(agent(backend=name, model="m", auth=AUTH))
    assert error["kind"] == "config"
    assert "pip install 'anew[agents]'" in error["message"]


# --- the network


@pytest.mark.parametrize("name", FORMATS)
def test_a_connection_that_fails_may_be_tried_again(name: str, unused_port: int) -> None:
    error = error_of(
        agent(backend=name, model="m", auth=AUTH, base_url=f"http://127.0.0.1:{unused_port}")
    )
    assert (error["kind"], error["retryable"]) == ("connection", True)
    assert KEY not in str(error)


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.mark.parametrize("name", FORMATS)
def test_a_server_that_says_nothing_is_left_when_its_time_is_over(name: str) -> None:
    outcome, heard = asked(name, lambda _: None, timeout=Timeout(read=0.05))
    assert error_of(outcome)["kind"] == "timeout"
    assert len(heard) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_a_cancelled_request_leaves_the_server(name: str) -> None:
    async def session() -> None:
        async with a_model_server(lambda _: None) as server:
            tool = AgentTool()
            call = a_call(backend=name, model="m", auth=AUTH, base_url=address(name, server))
            task = asyncio.ensure_future(tool.call(call))
            await server.was_asked.wait()
            task.cancel()
            await asyncio.wait({task})
            assert task.cancelled()
            await server.was_left.wait()
            await tool.close()

    bounded(session())


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_that_is_too_long_is_not_read(
    name: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_HTTP_RESPONSE_BYTES_MAX", "10000")
    body = gzip.compress(json.dumps(reply(name, "x" * 1_000_000)).encode())
    assert len(body) < 10_000
    outcome, _ = asked(name, lambda _: (status, {"Content-Encoding": "gzip"}, body))
    assert error_of(outcome)["kind"] == "limit_exceeded"
    assert "HTTP_RESPONSE_BYTES_MAX (10,000 bytes)" in error_of(outcome)["message"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_compressed_answer_is_read(name: str) -> None:
    body = gzip.compress(json.dumps(reply(name, "Hello.")).encode())
    outcome, _ = asked(name, lambda _: (200, {"Content-Encoding": "gzip"}, body))
    assert outcome.result["text"] == "Hello."


@pytest.mark.parametrize("name", FORMATS)
def test_a_redirect_is_not_followed_with_the_key(name: str) -> None:
    outcome, heard = asked(name, lambda _: (307, {"Location": "http://127.0.0.1:1/"}, b""))
    assert error_of(outcome)["kind"] == "client_error"
    assert len(heard) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_the_guard_of_the_http_tool_holds_for_agents(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_HTTP_GUARD", "1")
    outcome, heard = asked(name, ok(reply(name, "x")))
    assert error_of(outcome)["kind"] == "config"
    assert heard == []


@pytest.mark.parametrize("name", FORMATS)
def test_many_requests_share_their_connections(name: str) -> None:
    async def session() -> list[str]:
        async with a_model_server(
            lambda heard: ok(reply(name, heard.body["messages"][0]["content"]))(heard)
        ) as server:
            tool = AgentTool()
            where = address(name, server)
            calls = [
                a_call(backend=name, model="m", auth=AUTH, base_url=where, prompt=str(n))
                for n in range(20)
            ]
            outcomes = await asyncio.gather(*map(tool.call, calls))
            await tool.close()
            return [outcome.result["text"] for outcome in outcomes]

    assert bounded(session()) == [str(n) for n in range(20)]


def test_the_libraries_are_imported_only_when_they_are_asked(tmp_path: Path) -> None:
    import subprocess

    code = "import sys, anew.tools.agent, anew.tools.agent.backends.command; print([n for n in ('openai', 'anthropic', 'httpx2', 'pydantic') if n in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "[]\n"
