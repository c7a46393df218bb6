"""The OpenAI wire format (chat completions), for OpenAI and the many servers that speak it too."""

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

OPENAI = Maker(
    "openai",
    key_variable="OPENAI_API_KEY",
    headers_variable="OPENAI_CUSTOM_HEADERS",
    account_headers=("OpenAI-Organization", "OpenAI-Project"),
)


class OpenaiBackend:
    """Sends each request once; its connections are kept and shared."""

    def __init__(self) -> None:
        self._connections = ModelConnections()

    async def run(self, request: AgentRequest) -> AgentReply:
        body = _body(request)
        access = access_for(request, OPENAI)
        sdk = await library("openai")
        client = sdk.AsyncOpenAI(
            **options(access, OPENAI, sdk=sdk), http_client=self._connections.client()
        )
        url = client.base_url.join("chat/completions")
        try:
            answer = await client.chat.completions.with_raw_response.create(
                **body,
                extra_headers=headers(access, sdk=sdk, client=client),
                timeout=time_limits(request.timeout),
            )
        except (sdk.OpenAIError, *FAILURES) as failure:
            return AgentReply(
                text="", error=error_of_failure(failure, sdk, url=url, key=access.key)
            )
        found = _read(answer.http_response.content)
        if found is None:
            return AgentReply(text="", error=not_understood(url, "chat completion"))
        return reply_of(found)

    async def close(self) -> None:
        await self._connections.close()


def _body(request: AgentRequest) -> dict[str, Any]:
    said = [("system", request.system)] if request.system else []
    said += [(message.role, message.text) for message in request.history]
    said.append(("user", request.message))
    body = {
        "model": model_of(request),
        "messages": [{"role": role, "content": text} for role, text in said],
        "max_completion_tokens": request.max_tokens,
        "temperature": request.temperature,
        "reasoning_effort": request.reasoning_effort,
        "extra_body": dict(mapping_in(request.settings, "extra_body")) or None,
    }
    return {name: value for name, value in body.items() if value is not None}


class _Message(Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: _Usage | None = None


def _read(content: bytes) -> Answer | None:
    try:
        found = msgspec.json.decode(content, type=_Completion)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if not found.choices:
        return None
    choice = found.choices[0]
    usage = found.usage
    return Answer(
        text=choice.message.content or choice.message.refusal or "",
        model=found.model,
        stop="refusal" if choice.message.refusal else choice.finish_reason,
        tokens=(usage.prompt_tokens, usage.completion_tokens) if usage else None,
    )
