"""The Anthropic wire format (messages)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from anew.tools.agent.backend import AgentReply, AgentRequest
from anew.tools.agent.backends.access import (
    Maker,
    access_for,
    headers,
    library,
    model_of,
    options,
    time_limits,
)
from anew.tools.agent.backends.answers import Answer, reply_of
from anew.tools.agent.backends.connections import ModelConnections
from anew.tools.agent.backends.failures import FAILURES, error_of_failure, not_understood
from anew.tools.agent.request import mapping_in

ANTHROPIC = Maker(
    "anthropic",
    key_variable="ANTHROPIC_API_KEY",
    headers_variable="ANTHROPIC_CUSTOM_HEADERS",
)
# The format wants a number; this one is within what every model can write.
TOKENS_DEFAULT = 4096


class AnthropicBackend:
    """Sends each request once; its connections are kept and shared."""

    def __init__(self) -> None:
        self._connections = ModelConnections()

    async def run(self, request: AgentRequest) -> AgentReply:
        body = _body(request)
        access = access_for(request, ANTHROPIC)
        sdk = await library("anthropic")
        client = sdk.AsyncAnthropic(
            **options(access, ANTHROPIC, sdk=sdk), http_client=self._connections.client()
        )
        url = client.base_url.join("v1/messages")
        try:
            answer = await client.messages.with_raw_response.create(
                **body,
                extra_headers=headers(access, sdk=sdk, client=client),
                timeout=time_limits(request.timeout),
            )
        except (sdk.AnthropicError, *FAILURES) as failure:
            return AgentReply(
                text="", error=error_of_failure(failure, sdk, url=url, key=access.key)
            )
        found = _read(answer.http_response.content)
        if found is None:
            return AgentReply(text="", error=not_understood(url, "message"))
        return reply_of(found)

    async def close(self) -> None:
        await self._connections.close()


def _body(request: AgentRequest) -> dict[str, Any]:
    said = [(message.role, message.text) for message in request.history]
    said.append(("user", request.message))
    body = {
        "model": model_of(request),
        "messages": [{"role": role, "content": text} for role, text in said],
        "max_tokens": request.max_tokens or TOKENS_DEFAULT,
        "system": request.system,
        "extra_body": _further(request) or None,
    }
    return {name: value for name, value in body.items() if value is not None}


def _further(request: AgentRequest) -> dict[str, Any]:
    """Fields only some models take, which the library therefore does not always name."""
    further: dict[str, Any] = {}
    if request.temperature is not None:
        further["temperature"] = request.temperature
    if request.reasoning_effort is not None:
        further["output_config"] = {"effort": request.reasoning_effort}
    return {**further, **mapping_in(request.settings, "extra_body")}


class _Part(Struct):
    type: str
    text: str = ""


class _Usage(Struct):
    input_tokens: int = 0
    output_tokens: int = 0


class _Answer(Struct):
    content: list[_Part]
    model: str | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None


def _read(content: bytes) -> Answer | None:
    try:
        found = msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    usage = found.usage
    return Answer(
        text="".join(part.text for part in found.content if part.type == "text"),
        model=found.model,
        stop=found.stop_reason,
        tokens=(usage.input_tokens, usage.output_tokens) if usage else None,
    )
