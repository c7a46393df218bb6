"""What canonical nodes say beyond YAML: whose words an expression speaks, and a few rules' names.

The engine gives expressions of older dialects the names they were written for; that a condition
speaks them is no part of the canonical form, and `migrate` has to translate them.
"""

from __future__ import annotations

from anew.languages.nodes import MapNode, ScalarNode
from anew.program.policy import OutcomeStatus
from anew.program.program import Dialect


class TaskNode(MapNode, frozen=True):
    """A task that an older form stands for; its expressions speak that dialect."""

    dialect: Dialect = Dialect.POLICY


class RuleNode(MapNode, frozen=True):
    """A rule of a `retry` block: it asks for a status and, in the block's words, for `when`.

    `is_broken`: it was reported, and nobody knows when it would match.
    """

    on: OutcomeStatus | None = None
    name: str = ""
    is_broken: bool = False


class LabelNode(ScalarNode, frozen=True):
    """A template of nothing but the result of a task, whose label may be no name in expressions."""

    label: str = ""
