"""Check a graph: every rule of its dialect, and those that hold in both.

Each rule's id and severity stand in `dot_rules`; nothing here stops at the first mistake.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.lint.branches import check_branches
from anew.languages.dot.lint.children import check_children
from anew.languages.dot.lint.choices import check_choices
from anew.languages.dot.lint.cycles import check_cycles
from anew.languages.dot.lint.edges import check_edges
from anew.languages.dot.lint.ends import check_ends
from anew.languages.dot.lint.escapes import check_escapes
from anew.languages.dot.lint.failures import check_failures
from anew.languages.dot.lint.nodes import check_nodes
from anew.languages.dot.lint.reach import check_reach
from anew.languages.dot.lint.shell import check_shell
from anew.languages.dot.lint.texts import check_texts
from anew.languages.dot.lint.values import check_values
from anew.languages.dot.node_types import Known
from anew.languages.dot.routes import CompiledEdge


def lint(c: GraphCompilation, routes: Mapping[str, list[CompiledEdge]], known: Known) -> None:
    """Put everything that is wrong or odd among the findings."""
    check_values(c)
    check_nodes(c, known)
    check_texts(c)
    check_shell(c)
    check_ends(c)
    check_reach(c)
    check_edges(c, routes)
    check_choices(c)
    check_children(c)
    check_branches(c)
    check_escapes(c)
    check_failures(c, routes)
    check_cycles(c)
    c.report_unlisted()
