"""What a type of node is: a name, a role in the graph, and how a node becomes the task of a step.

The types there are lie in `node_types.py`; extensions add their own in the same form.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from anew.expressions import Template
from anew.languages.dot.graph import Node
from anew.program.policy import Patch, Rule

if TYPE_CHECKING:
    from anew.languages.dot.compilation import GraphCompilation


class Role(StrEnum):
    """What a node does for the graph. Only `WORK` calls a tool, can be retried and can fail."""

    START = "start"
    EXIT = "exit"
    CHOICE = "choice"
    FORK = "fork"
    JOIN = "join"
    WORK = "work"


class Work(Struct, frozen=True):
    """The one task of a node: which tool, with which inputs, and what is kept of its outcome.

    `patches` are written with every outcome, also a failed one; `when_done` only with a good one.
    `rules` come before those that decide about retries.
    """

    kind: str
    inputs: Template
    patches: tuple[Patch, ...] = ()
    when_done: tuple[Patch, ...] = ()
    timeout_seconds: float | None = None
    rules: tuple[Rule, ...] = ()


class NodeType(Struct, frozen=True):
    """`build` is called once per node, when the graph is compiled. It must not fail.

    `writes` are keys of the context that its outcomes give a value.
    """

    name: str
    build: Callable[[GraphCompilation, Node], Work]
    role: Role = Role.WORK
    writes: tuple[str, ...] = ()
