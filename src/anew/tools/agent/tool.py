"""The tool itself: read the request, find the backend, and make an outcome of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.errors import ConfigError
from anew.tool import Call
from anew.tools.agent.backend import Backend
from anew.tools.agent.choice import backend_named, chosen
from anew.tools.agent.reply import outcome_from
from anew.tools.agent.request import request_of
from anew.tools.inputs import BadInput
from anew.tools.sandbox import NO_SANDBOX, Sandbox


class NotClosed(Exception):
    """Backends that could not be closed, by name, and why."""


class AgentTool:
    """The tool of kind `agent`. `given` are ready-made backends by name, such as those of tests."""

    def __init__(
        self, given: Mapping[str, Backend] | None = None, *, sandbox: Sandbox = NO_SANDBOX
    ) -> None:
        self._backends: dict[str, Backend] = dict(given or {})
        self._sandbox = sandbox

    async def call(self, call: Call) -> Outcome:
        try:
            request = request_of(call)
            name = chosen(call.inputs)
            said = await self._backend(name).run(request)
        except (BadInput, ConfigError) as problem:
            return outcome_of(error=error_of("config", str(problem)))
        return outcome_from(said, request, backend=name)

    async def close(self) -> None:
        """Close every backend; NotClosed names those that could not be."""
        backends, self._backends = self._backends, {}
        told = await asyncio.gather(*(_close(name, one) for name, one in backends.items()))
        problems = [one for one in told if one is not None]
        if problems:
            raise NotClosed("; ".join(problems))

    def _backend(self, name: str) -> Backend:
        backend = self._backends.get(name)
        if backend is None:
            backend = self._backends[name] = backend_named(name, self._sandbox)
        return backend


async def _close(name: str, backend: Backend) -> str | None:
    """What went wrong, if something did: one backend must not keep the others open."""
    try:
        await backend.close()
    except Exception as error:
        return f"agent backend {name!r}: {type(error).__name__}: {error}"
    return None
