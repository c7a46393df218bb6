"""Find the tool of each kind, build it when it is first needed, and close all of them at the end.

A tool that an installed package registers under the entry-point group `anew.tools` is built like
one of ours: its entry point is called without arguments.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from importlib import import_module

from anew.errors import ConfigError
from anew.program.kinds import (
    ENTRY_POINT_GROUP,
    KINDS,
    MODULE_KINDS,
    kind_named,
    missing_extra,
)
from anew.tool import Tool
from anew.tools.sandbox import NO_SANDBOX, Sandbox

_LOG = logging.getLogger(__name__)


class Toolbox:
    """Tools by kind. `given` are ready-made ones, such as those of tests."""

    def __init__(
        self, given: Mapping[str, Tool] | None = None, *, sandbox: Sandbox = NO_SANDBOX
    ) -> None:
        self._tools: dict[str, Tool] = dict(given or {})
        self.sandbox = sandbox

    def add(self, kind: str, tool: Tool) -> None:
        self._tools.setdefault(kind, tool)

    def get(self, kind: str) -> Tool:
        """The tool of this kind; ConfigError when there is none, or it cannot be loaded."""
        tool = self._tools.get(kind)
        if tool is None:
            more = {"sandbox": self.sandbox} if kind_named(kind).is_sandboxed else {}
            tool = self._tools[kind] = _factory(kind)(**more)
        return tool

    def run_ended(self, run: str) -> None:
        """Tell the tools that keep something for each run."""
        for tool in self._tools.values():
            tell = getattr(tool, "run_ended", None)
            if tell is not None:
                tell(run)

    async def close(self, redact: Callable[[str], str] = str) -> None:
        """Close every tool. What cannot be closed is a warning: no run is the worse for it."""
        await asyncio.gather(*(_close(kind, tool, redact) for kind, tool in self._tools.items()))


async def _close(kind: str, tool: Tool, redact: Callable[[str], str]) -> None:
    try:
        await tool.close()
    except Exception as error:
        told = redact(" ".join(f"{type(error).__name__}: {error}".split()))
        _LOG.warning("the tool %s could not be closed: %s", kind, told)


def _factory(kind: str) -> Callable[..., Tool]:
    place, extra = kind_named(kind).tool, missing_extra(kind)
    if extra is not None:
        raise ConfigError(f"{extra.problem(f'{kind} tasks need')}. Install it: {extra.command}")
    if kind in MODULE_KINDS and place is not None:
        from anew.tools.modules import tool_kind_at  # noqa: PLC0415 - few processes have modules

        return tool_kind_at(place).make
    if place is not None:
        # Imported on first use, because some of them bring large libraries.
        module, _, name = place.partition(":")
        factory: Callable[..., Tool] = getattr(import_module(module), name)
        return factory
    # Slow to import, and needed for kinds that are not ours only.
    from importlib.metadata import entry_points  # noqa: PLC0415

    for point in entry_points(group=ENTRY_POINT_GROUP, name=kind):
        try:
            installed: Callable[..., Tool] = point.load()
        except Exception as error:
            raise ConfigError(
                f"the tool {kind!r} ({point.value}) cannot be loaded: {error}"
            ) from error
        return installed
    if kind in KINDS:
        raise ConfigError(
            f"{kind!r} tasks cannot be run yet; `anew simulate` can play their outcomes."
        )
    raise ConfigError(
        f"there is no tool of kind {kind!r} here. Install the package that brings it, "
        f"or see `anew doctor` for the kinds that are there."
    )
