"""The extras of the installation that the kinds name, and whether one is here.

What needs which is a column of their rows. Knows none of the modules: it only looks whether they
can be found.
"""

from __future__ import annotations

from msgspec import Struct


class Extra(Struct, frozen=True):
    """An optional part of the installation, `anew[<name>]`, and the modules that it brings."""

    name: str
    modules: tuple[str, ...]

    @property
    def command(self) -> str:
        return f"pip install 'anew[{self.name}]'"

    @property
    def is_missing(self) -> bool:
        # Few kinds have one.
        from importlib.util import find_spec  # noqa: PLC0415

        return any(find_spec(module) is None for module in self.modules)

    def problem(self, what: str) -> str:
        """What is wrong where it is missing, for an error that names the command next."""
        return f"{what} the extra {self.name!r}, which is not installed here"


POSTGRES = Extra("postgres", ("psycopg",))
# It gives moments with a time zone by way of pytz.
DUCKDB = Extra("duckdb", ("duckdb", "pytz"))
# What the backends of agents that ask a maker's model need, each its own library.
AGENT_BACKENDS = {name: Extra("agents", (name,)) for name in ("openai", "anthropic")}
