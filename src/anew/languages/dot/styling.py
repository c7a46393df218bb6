"""Give the nodes of a graph what its model stylesheet says about them.

Decides where the stylesheet is: in the graph, or (docs) in a file beside the document.
"""

from __future__ import annotations

from functools import cache

from anew.languages.dot.attributes import shown, typed
from anew.languages.dot.beside import Beside
from anew.languages.dot.dot_rules import parse_finding
from anew.languages.dot.graph import Attribute, DotDialect, Graph, Node
from anew.languages.dot.source import SourceText, decode
from anew.languages.dot.stylesheet import (
    PROPERTIES,
    Declaration,
    Locate,
    Styles,
    Stylesheet,
    parse_stylesheet,
)
from anew.program.findings import Finding

STYLESHEET_BYTES_MAX = 1 << 18

_DEFAULT_SHAPE = "box"


def apply_stylesheet(
    graph: Graph, source: SourceText, *, dialect: DotDialect, beside: Beside
) -> list[Finding]:
    """Add style properties to the nodes that do not have them; tells what is wrong with them."""
    attribute = graph.attributes.get("model_stylesheet")
    if attribute is None or not attribute.raw.strip():
        return []
    found = _text_of(attribute, source, dialect, beside)
    if isinstance(found, Finding):
        return [found]
    text, locate = found
    sheet, findings = parse_stylesheet(text, locate, dialect=dialect)
    _style(graph, sheet, dialect)
    return findings


def _style(graph: Graph, sheet: Stylesheet, dialect: DotDialect) -> None:
    aliases: dict[str, list[str]] = {}
    for word, known in PROPERTIES[dialect].items():
        aliases.setdefault(known, []).append(word)
    # Many nodes share few combinations of shape and classes.
    common = cache(sheet.common)
    for node in graph.nodes.values():
        styles = {**common(node.text("shape", _DEFAULT_SHAPE), node.classes)}
        styles.update(sheet.ids.get(node.id, {}))
        _add(node, styles, aliases)


def _add(node: Node, styles: Styles, aliases: dict[str, list[str]]) -> None:
    for name, one in styles.items():
        if not any(word in node.attributes for word in aliases[name]):
            node.attributes[name] = _as_attribute(one)


def _as_attribute(one: Declaration) -> Attribute:
    value = typed(one.text)
    return Attribute(one.name, value, one.text, one.span, one.key_span, is_default=True)


# --- where the stylesheet is -------------------------------------------------------------------


def _text_of(
    attribute: Attribute, source: SourceText, dialect: DotDialect, beside: Beside
) -> tuple[str, Locate] | Finding:
    is_path = dialect is DotDialect.DOCS and not any(sign in attribute.raw for sign in "{}\n")
    if not is_path:
        places = source.inside_all(attribute.span, len(attribute.raw))
        return attribute.raw, lambda at: source.span(places[min(at, len(places) - 1)])
    read = beside.read(attribute.raw.strip(), bytes_max=STYLESHEET_BYTES_MAX)
    if isinstance(read, str):
        message = f"the stylesheet {shown(attribute.raw)} cannot be read: {read}"
        remedy = "Correct the path, which starts at the document's folder, or write the rules here."
        return parse_finding("dot.stylesheet-file", attribute.span, message, remedy)
    return _text_in(read, attribute)


def _text_in(read: tuple[bytes, str], attribute: Attribute) -> tuple[str, Locate] | Finding:
    data, name = read
    styles = decode(data, name)
    if not isinstance(styles, Finding):
        return styles.text, styles.span
    message = f"the stylesheet {shown(attribute.raw)} cannot be read: {styles.message}"
    return parse_finding("dot.stylesheet-file", attribute.span, message, styles.suggestion)
