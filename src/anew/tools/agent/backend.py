"""What a backend of agents is: one question, asked once, and what came back.

Backends know how to reach a model or a program. They know nothing of runs, rules or retries: a
failure of the world is told as data, and rules decide whether to ask again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from anew.engine.outcome import Outcome
from anew.program.policy import Verdict
from anew.tool import AttemptRef, Timeout
from anew.values import Object, Value

ENTRY_POINT_GROUP = "anew.agents"


class Message(Struct, frozen=True):
    """Something said earlier in the same thread; `role` is user or assistant."""

    role: str
    text: str


class AgentRequest(Struct, frozen=True, kw_only=True):
    """One execution of an agent task.

    `settings` are the inputs only some backends know (`command`, `base_url`, …) and whatever stands
    under the input `settings`. `auth` is the credential's data. `context` is for backends that want
    more than the prompt. A request that is stopped puts what was printed into `printed`.
    """

    node: str
    prompt: str
    preamble: str = ""
    goal: str = ""
    fidelity: str | None = None
    thread: str | None = None
    history: tuple[Message, ...] = ()
    model: str | None = None
    provider: str | None = None
    reasoning_effort: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    system: str | None = None
    context: Mapping[str, Value] = field(default_factory=dict)
    settings: Mapping[str, Value] = field(default_factory=dict)
    auth: Mapping[str, Value] = field(default_factory=dict)
    place: AttemptRef
    idempotency_key: str
    folder: Path
    scratch: Path
    timeout: Timeout = Timeout()
    printed: Object = field(default_factory=dict)

    @property
    def message(self) -> str:
        """What to say now: the prompt, after the preamble unless the history tells it already."""
        if not self.preamble or self.history:
            return self.prompt
        return f"{self.preamble}\n\n{self.prompt}"


class AgentReply(Struct, frozen=True, kw_only=True):
    """What came back, where that is more than a text.

    `status` is what the agent said about its own work (see `status.py`); without one it is looked
    for at the end of the text. `error` makes the reply a failure that keeps its text. `verdict` is
    how the reply counts when nobody says otherwise. `more` goes into the result.
    """

    text: str
    model: str | None = None
    usage: Object | None = None
    stop: str | None = None
    status: Mapping[str, Value] | None = None
    error: Object | None = None
    verdict: Verdict | None = None
    logs: Object = field(default_factory=dict)
    more: Object = field(default_factory=dict)


class Backend(Protocol):
    """One way to reach agents. Built once per process, by a factory without arguments.

    When `run` is cancelled it stops what it began and lets the cancellation through. `BadInput` and
    `anew.errors.ConfigError` become errors of kind `config`; anything else it raises is reported as
    `tool_error`.
    """

    async def run(self, request: AgentRequest) -> str | Outcome | AgentReply: ...

    async def close(self) -> None:
        """Give back connections and processes. Called once, when nothing is at work any more."""
