"""Read a DOT document whole: parse it, find its dialect, settle its chains, style its nodes."""

from __future__ import annotations

from msgspec import Struct

from anew.languages.dot.beside import Beside
from anew.languages.dot.detect import detect
from anew.languages.dot.graph import DotDialect, Graph
from anew.languages.dot.parse import parse_dot, spread_chains
from anew.languages.dot.source import SourceText
from anew.languages.dot.styling import apply_stylesheet
from anew.program.findings import Finding


class ReadGraph(Struct):
    """`graph` is None when nothing could be read; with errors among the findings it is partial.

    `source` tells where inside a quoted value something stands (`source.inside`).
    """

    graph: Graph | None
    dialect: DotDialect
    findings: list[Finding]
    source: SourceText | None = None


def read_graph(
    document: str | bytes,
    file: str,
    *,
    dialect: DotDialect | None = None,
    beside: Beside | None = None,
) -> ReadGraph:
    """The graph of a document in its dialect, or in the one that is given."""
    parsed = parse_dot(document, file)
    graph, source = parsed.graph, parsed.source
    if graph is None or source is None:
        return ReadGraph(None, dialect or DotDialect.SPEC, parsed.findings, source)
    found, findings = detect(graph, chosen=dialect)
    if found is DotDialect.SPEC:
        spread_chains(parsed.chains)
    source.beside = beside or Beside(file)
    findings += apply_stylesheet(graph, source, dialect=found, beside=source.beside)
    return ReadGraph(graph, found, [*parsed.findings, *findings], source)
