"""Ask a model through its maker's library, and say what its answer counts as.

The same for every wire format: what differs (`WireFormat`) is how a request is written down and how
an answer is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from anew.engine.outcome import error_of
from anew.engine.verdicts import ErrorType
from anew.program.policy import Verdict
from anew.tools.agent.backend import AgentReply, AgentRequest
from anew.tools.agent.backends.access import (
    Maker,
    access_for,
    headers,
    library,
    options,
    time_limits,
)
from anew.tools.agent.backends.connections import ModelConnections
from anew.tools.agent.backends.failures import FAILURES, error_of_failure, not_understood

_Decoded = TypeVar("_Decoded")
# The words of both formats for an answer that was cut off, and for one that was refused.
_CUT = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_REFUSED = frozenset({"refusal", "content_filter"})


class ModelAnswer(Struct, frozen=True):
    """`tokens` are those of the question and of the answer."""

    text: str
    model: str | None
    stop: str | None
    tokens: tuple[int, int] | None


class WireFormat(Struct, frozen=True):
    """`client`, `error` and `send` are the library's: the class of its clients, that of its errors,
    and what a client sends a request with. `path` is below the address, `noun` what comes back.
    """

    maker: Maker
    client: str
    error: str
    send: Callable[[Any], Any]
    path: str
    noun: str
    body: Callable[[AgentRequest], dict[str, Any]]
    read: Callable[[bytes], ModelAnswer | None]


class ModelBackend:
    """Sends each request once; its connections are kept and shared."""

    def __init__(self, form: WireFormat) -> None:
        self._form = form
        self._connections = ModelConnections()

    async def run(self, request: AgentRequest) -> AgentReply:
        form = self._form
        body = {name: value for name, value in form.body(request).items() if value is not None}
        access = access_for(request, form.maker)
        sdk = await library(form.maker.name)
        client = getattr(sdk, form.client)(
            **options(access, form.maker, sdk=sdk), http_client=self._connections.client()
        )
        url = client.base_url.join(form.path)
        try:
            answer = await form.send(client)(
                **body,
                extra_headers=headers(access, sdk=sdk, client=client),
                timeout=time_limits(request.timeout),
            )
        except (getattr(sdk, form.error), *FAILURES) as failure:
            return AgentReply(
                text="", error=error_of_failure(failure, sdk, url=url, key=access.key)
            )
        found = form.read(answer.http_response.content)
        if found is None:
            return AgentReply(text="", error=not_understood(url, form.noun))
        return _reply_of(found)

    async def close(self) -> None:
        await self._connections.close()


def decoded(content: bytes, form: type[_Decoded]) -> _Decoded | None:
    """What the bytes of an answer say; None when they are not of this form."""
    try:
        return msgspec.json.decode(content, type=form)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _reply_of(answer: ModelAnswer) -> AgentReply:
    """A cut answer is a partial success; a refused or empty one is a failure."""
    usage = None
    if answer.tokens is not None:
        usage = {"input_tokens": answer.tokens[0], "output_tokens": answer.tokens[1]}
    error = None
    if answer.stop in _REFUSED:
        # The same question would be refused again.
        refused = "the model refused to answer"
        error = error_of("failed", refused, type=ErrorType.TERMINAL.value)
    elif not answer.text.strip():
        empty = f"the model gave no text (it stopped with {answer.stop or 'no reason'})"
        error = error_of("failed", empty) | {"type": ErrorType.UNKNOWN.value, "retryable": None}
    return AgentReply(
        text=answer.text,
        model=answer.model,
        usage=usage,
        stop=answer.stop,
        error=error,
        verdict=Verdict.PARTIAL if answer.stop in _CUT else None,
    )
