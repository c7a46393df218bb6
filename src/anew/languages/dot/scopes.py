"""The block a statement stands in: its defaults, and the class its label gives to its nodes.

Knows no grammar. The graph itself is the outermost scope and gives no class.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from anew.languages.dot.graph import Attribute
from anew.languages.dot.tokens import DotToken

_DROPPED = re.compile(r"[^a-z0-9-]")
_BLANKS = re.compile(r"\s+")


class Block(Struct, eq=False):
    """A block; `opening` is its brace. `is_endpoint`: an edge was written up to it."""

    opening: DotToken
    parent: Block | None = None
    nodes: dict[str, Attribute] = field(default_factory=dict)
    edges: dict[str, Attribute] = field(default_factory=dict)
    label: str = ""
    is_endpoint: bool = False
    derived: tuple[str, ...] | None = None

    def inner(self, opening: DotToken) -> Block:
        """A block in this one, which begins with the defaults that hold here.

        They are shared: whoever changes defaults puts a new mapping in their place.
        """
        return Block(opening, self, self.nodes, self.edges)

    def groups(self) -> tuple[str, ...]:
        """The classes that this block and the blocks around it give, the innermost first.

        Right only when the whole block was read: its label may stand at its end.
        """
        if self.derived is None:
            around = self.parent.groups() if self.parent is not None else ()
            own = class_of(self.label) if self.parent is not None else ""
            self.derived = (own, *around) if own and own not in around else around
        return self.derived


def class_of(label: str) -> str:
    """The class a subgraph's label stands for: `Main Loop!` gives `main-loop`."""
    return _DROPPED.sub("", _BLANKS.sub("-", label.strip().lower()))
