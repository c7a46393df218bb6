"""What canonical nodes say beyond YAML: whose words an expression speaks, and a few rules' names.

The engine gives expressions of older dialects the names they were written for; that a condition
speaks them is no part of the canonical form, and `migrate` has to translate them.
"""

from __future__ import annotations

from anew.languages.nodes import NO_TEXT, MapNode, ScalarNode
from anew.program.policy import OutcomeStatus
from anew.program.program import Dialect
from anew.program.span import Span


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


class ErrorsNode(ScalarNode, frozen=True):
    """A `retry_when` that is asked of errors only, never of results that are ok."""


def of_errors(text: str, place: Span) -> ErrorsNode:
    file, line, column = place.file, place.line, place.column
    return ErrorsNode(text, text, file, line, column, NO_TEXT, NO_TEXT)


class LabelNode(ScalarNode, frozen=True):
    """A template of nothing but the result of a task, whose label may be no name in expressions."""

    label: str = ""
