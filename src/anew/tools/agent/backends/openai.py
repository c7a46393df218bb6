"""The OpenAI wire format (chat completions), for OpenAI and the many servers that speak it too."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from anew.tools.agent.backend import AgentRequest
from anew.tools.agent.backends.access import Maker, model_of
from anew.tools.agent.backends.model import ModelAnswer, ModelBackend, WireFormat, decoded
from anew.tools.agent.request import mapping_in


def openai_backend() -> ModelBackend:
    return ModelBackend(
        WireFormat(
            Maker(
                "openai",
                key_variable="OPENAI_API_KEY",
                headers_variable="OPENAI_CUSTOM_HEADERS",
                account_headers=("OpenAI-Organization", "OpenAI-Project"),
            ),
            client="AsyncOpenAI",
            error="OpenAIError",
            send=lambda client: client.chat.completions.with_raw_response.create,
            path="chat/completions",
            noun="chat completion",
            body=_body,
            read=_read,
        )
    )


def _body(request: AgentRequest) -> dict[str, Any]:
    said = [("system", request.system)] if request.system else []
    said += [(message.role, message.text) for message in request.history]
    said.append(("user", request.message))
    return {
        "model": model_of(request),
        "messages": [{"role": role, "content": text} for role, text in said],
        "max_completion_tokens": request.max_tokens,
        "temperature": request.temperature,
        "reasoning_effort": request.reasoning_effort,
        "extra_body": dict(mapping_in(request.settings, "extra_body")) or None,
    }


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


def _read(content: bytes) -> ModelAnswer | None:
    found = decoded(content, _Completion)
    if found is None or not found.choices:
        return None
    choice, usage = found.choices[0], found.usage
    return ModelAnswer(
        text=choice.message.content or choice.message.refusal or "",
        model=found.model,
        stop="refusal" if choice.message.refusal else choice.finish_reason,
        tokens=(usage.prompt_tokens, usage.completion_tokens) if usage else None,
    )
