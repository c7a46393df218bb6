"""Decide in which dialect a graph is written (graphs.md#detection).

An explicit word is obeyed, then shapes speak, then conditions. Knows nothing of what the dialects
mean.
"""

from __future__ import annotations

import re

from anew.languages.dot.attributes import shown
from anew.languages.dot.dot_rules import parse_finding
from anew.languages.dot.graph import DotDialect, Graph, Node
from anew.program.findings import Finding, did_you_mean

SPEC_SHAPES = frozenset({"Mdiamond", "Msquare", "tripleoctagon", "parallelogram"})
# One ellipse is a plain Graphviz node; two are the start and the exit of the docs dialect.
_DOCS_TERMINAL = "ellipse"
_DOCS_FAN_IN = "invhouse"
_DOCS_CONDITION = re.compile(
    r"""==|['"]|\b(?:AND|OR|NOT|IN|CONTAINS|STARTS_WITH|ENDS_WITH)\b|\A\s*status\b"""
)
_NAMED_MAX = 5


def detect(graph: Graph, *, chosen: DotDialect | None) -> tuple[DotDialect, list[Finding]]:
    """The graph's dialect, and what speaks against it."""
    if chosen is not None:
        return chosen, []
    stated, findings = _stated(graph)
    if stated is not None:
        return stated, findings
    spec = [node for node in graph.nodes.values() if node.text("shape") in SPEC_SHAPES]
    docs = _docs_nodes(graph)
    if spec and docs:
        return DotDialect.SPEC, [*findings, _mixed(spec, docs)]
    if spec or docs:
        return DotDialect.SPEC if spec else DotDialect.DOCS, findings
    hints = any(_DOCS_CONDITION.search(edge.text("condition")) for edge in graph.edges)
    return DotDialect.DOCS if hints else DotDialect.SPEC, findings


def _stated(graph: Graph) -> tuple[DotDialect | None, list[Finding]]:
    attribute = graph.attributes.get("dialect")
    if attribute is None:
        return None, []
    word = attribute.raw.strip().lower()
    known = [dialect.value for dialect in DotDialect]
    if word in known:
        return DotDialect(word), []
    message = f"the dialect is {shown(attribute.raw)}; it must be `docs` or `spec`"
    remedy = did_you_mean(word, known) or "Remove it: the dialect is detected then."
    return None, [parse_finding("dot.dialect", attribute.span, message, remedy)]


def _docs_nodes(graph: Graph) -> list[Node]:
    nodes = graph.nodes.values()
    ends = [node for node in nodes if node.text("shape") == _DOCS_TERMINAL]
    joins = [node for node in nodes if node.text("shape") == _DOCS_FAN_IN]
    return [*(ends if len(ends) > 1 else []), *joins]


def _mixed(spec: list[Node], docs: list[Node]) -> Finding:
    message = (
        f"the graph has shapes of both dialects: spec by {_listed(spec)}; docs by {_listed(docs)}"
    )
    remedy = 'Write `dialect="spec"` or `dialect="docs"` in the graph, or give --dialect.'
    fewer = docs if len(docs) <= len(spec) else spec
    return parse_finding("mixed-dialect", fewer[0].attributes["shape"].span, message, remedy)


def _listed(nodes: list[Node]) -> str:
    first = [
        f"{shown(node.id)} ({node.text('shape')}, line {node.span.line})"
        for node in nodes[:_NAMED_MAX]
    ]
    more = [f"{len(nodes) - _NAMED_MAX} more"] if len(nodes) > _NAMED_MAX else []
    return ", ".join(first + more)
