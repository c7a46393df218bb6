"""Turn what a backend gave into an outcome: its text, what the agent said of it, and errors."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from anew.engine.outcome import NO_ADVICE, Advice, Outcome, error_of, outcome_of
from anew.engine.verdicts import ErrorType
from anew.program.policy import Verdict
from anew.tools.agent.backend import AgentReply, AgentRequest
from anew.tools.agent.status import AgentStatus, BadStatus, agent_status, status_in
from anew.values import Object, Value


def outcome_from(said: object, request: AgentRequest, *, backend: str) -> Outcome:
    """The outcome of a request that `backend` answered so."""
    if isinstance(said, Outcome):
        return said
    if isinstance(said, str):
        said = AgentReply(text=said)
    if not isinstance(said, AgentReply):
        what = f"the agent backend {backend!r} gave a {type(said).__name__}"
        return outcome_of(error=error_of("tool_error", f"{what}, not a text, reply or outcome"))
    try:
        status = agent_status(_status(said))
    except BadStatus as problem:
        said = replace(said, error=said.error or bad_status(f"the agent's status {problem}"))
        status = AgentStatus(NO_ADVICE)
    return _outcome(said, status, request, backend=backend)


def bad_status(message: str) -> Object:
    """The error of an agent whose status cannot be read. It may do better the next time."""
    return error_of("failed", message) | {"type": ErrorType.UNKNOWN.value, "retryable": None}


def _status(reply: AgentReply) -> Mapping[str, Value]:
    if reply.status is not None:
        return reply.status
    return status_in(reply.text) or {}


def _outcome(
    reply: AgentReply, status: AgentStatus, request: AgentRequest, *, backend: str
) -> Outcome:
    error = reply.error or status.error
    verdict = Verdict.FAILURE if error else _verdict(reply, status.advice)
    parts: Object = {
        "text": reply.text,
        "status": verdict.value,
        "backend": backend,
        "model": reply.model or request.model,
        "thread": request.thread,
        "usage": reply.usage,
        "stop": reply.stop,
        "notes": status.notes,
        **reply.more,
    }
    result = {key: value for key, value in parts.items() if value is not None}
    advice = replace(status.advice, verdict=verdict)
    return outcome_of(result, error=error, logs=reply.logs, advice=advice)


def _verdict(reply: AgentReply, advice: Advice) -> Verdict:
    """What the agent said, else what the backend makes of it."""
    if advice.verdict in (None, Verdict.SUCCESS) and advice.word is None:
        return reply.verdict or Verdict.SUCCESS
    return advice.verdict or Verdict.SUCCESS
