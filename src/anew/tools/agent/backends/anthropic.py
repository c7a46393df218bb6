"""The Anthropic wire format (messages)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from anew.tools.agent.backend import AgentRequest
from anew.tools.agent.backends.access import Maker, model_of
from anew.tools.agent.backends.model import ModelAnswer, ModelBackend, WireFormat, decoded
from anew.tools.agent.request import mapping_in

# The format wants a number; this one is within what every model can write.
TOKENS_DEFAULT = 4096


def anthropic_backend() -> ModelBackend:
    return ModelBackend(
        WireFormat(
            Maker(
                "anthropic",
                key_variable="ANTHROPIC_API_KEY",
                headers_variable="ANTHROPIC_CUSTOM_HEADERS",
            ),
            client="AsyncAnthropic",
            error="AnthropicError",
            send=lambda client: client.messages.with_raw_response.create,
            path="v1/messages",
            noun="message",
            body=_body,
            read=_read,
        )
    )


def _body(request: AgentRequest) -> dict[str, Any]:
    said = [(message.role, message.text) for message in request.history]
    said.append(("user", request.message))
    return {
        "model": model_of(request),
        "messages": [{"role": role, "content": text} for role, text in said],
        "max_tokens": request.max_tokens or TOKENS_DEFAULT,
        "system": request.system,
        "extra_body": _further(request) or None,
    }


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


class _Message(Struct):
    content: list[_Part]
    model: str | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None


def _read(content: bytes) -> ModelAnswer | None:
    found = decoded(content, _Message)
    if found is None:
        return None
    usage = found.usage
    return ModelAnswer(
        text="".join(part.text for part in found.content if part.type == "text"),
        model=found.model,
        stop=found.stop_reason,
        tokens=(usage.input_tokens, usage.output_tokens) if usage else None,
    )
