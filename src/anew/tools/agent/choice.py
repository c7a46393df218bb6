"""Decide which backend a task is for, and find it.

The author chooses with `backend`, with a `command`, or with a `provider` together with `auth`; for
tasks that choose nothing the operator does, with ANEW_AGENT_BACKEND or ANEW_AGENT_COMMAND. A key
that happens to lie in the environment chooses nothing: by default no network is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points

from anew.errors import ConfigError
from anew.expressions.problems import unknown
from anew.tools.agent.backend import ENTRY_POINT_GROUP, Backend
from anew.tools.agent.request import text_in
from anew.tools.inputs import BadInput
from anew.tools.sandbox import NO_SANDBOX, Sandbox
from anew.values import Value

DEFAULT = "simulate"
# In ANEW_AGENT_BACKEND: each task's provider names its backend.
BY_PROVIDER = "provider"

# Where each backend lives; imported on first use.
BUILT_IN: Mapping[str, str] = {
    "simulate": "anew.tools.agent.backends.simulate:SimulateBackend",
    "command": "anew.tools.agent.backends.command:CommandBackend",
    "openai": "anew.tools.agent.backends.openai:openai_backend",
    "anthropic": "anew.tools.agent.backends.anthropic:anthropic_backend",
}
# Backends that start processes of the author; they are built with the sandbox these run in.
SANDBOXED = frozenset({"command"})


def chosen(inputs: Mapping[str, Value]) -> str:
    """The name of the backend a task with these inputs is for."""
    said = text_in(inputs, "backend")
    if said is not None:
        return said.strip()
    if inputs.get("command"):
        return "command"
    provider = (text_in(inputs, "provider") or "").strip().lower()
    if provider and inputs.get("auth"):
        return provider
    usual = _usual()
    if usual != BY_PROVIDER:
        return usual
    if provider:
        return provider
    raise BadInput("ANEW_AGENT_BACKEND is provider, and this task names none; give it a `provider`")


def _usual() -> str:
    said = os.environ.get("ANEW_AGENT_BACKEND", "").strip()
    if said:
        return said
    return "command" if os.environ.get("ANEW_AGENT_COMMAND", "").strip() else DEFAULT


def backend_named(name: str, sandbox: Sandbox = NO_SANDBOX) -> Backend:
    """A new backend of this name; ConfigError when there is none, or it cannot be loaded."""
    place = BUILT_IN.get(name)
    if place is not None:
        module, _, factory = place.partition(":")
        more = {"sandbox": sandbox} if name in SANDBOXED else {}
        made: Backend = getattr(import_module(module), factory)(**more)
        return made
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        try:
            installed: Callable[[], Backend] = point.load()
            return installed()
        except Exception as error:
            raise ConfigError(
                f"the agent backend {name!r} ({point.value}) cannot be loaded: {error}"
            ) from error
    raise ConfigError(unknown("agent backend", name, {*BUILT_IN, *installed_names()}))


def installed_names() -> list[str]:
    """Backends that installed packages register."""
    return [point.name for point in entry_points(group=ENTRY_POINT_GROUP)]
