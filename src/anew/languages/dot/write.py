"""Write a graph as a DOT document that is read as the same graph.

Defaults and the classes that subgraphs gave are written at each node: blocks are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from anew.languages.dot.attributes import typed
from anew.languages.dot.graph import Attribute, Graph, Node
from anew.languages.dot.source import escaped
from anew.languages.dot.tokens import KEYWORDS

_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*")


def write_dot(graph: Graph) -> str:
    """The document, one statement on each line but where a text spans lines."""
    name = f"{written_id(graph.name)} " if graph.name else ""
    return "\n".join([f"digraph {name}{{", *_statements(graph), "}", ""])


def written_id(name: str) -> str:
    is_plain = _ID.fullmatch(name) and name.lower() not in KEYWORDS
    return name if is_plain else f'"{escaped(name)}"'


def written_value(text: str) -> str:
    """A word, a truth or a number as it is; anything else in quotes."""
    is_plain = _ID.fullmatch(text) or not isinstance(typed(text), str)
    return text if is_plain else f'"{escaped(text)}"'


def written_list(texts: Mapping[str, str]) -> str:
    """An attribute list with a blank before it, or nothing."""
    pairs = [f"{_written_key(key)}={written_value(text)}" for key, text in texts.items()]
    return f" [{', '.join(pairs)}]" if pairs else ""


def _statements(graph: Graph) -> Iterator[str]:
    for key, text in _texts(graph.attributes).items():
        yield f"  {_written_key(key)}={written_value(text)}"
    for node in graph.nodes.values():
        yield f"  {written_id(node.id)}{written_list(_node_texts(node))}"
    for edge in graph.edges:
        attributes = written_list(_texts(edge.attributes))
        yield f"  {written_id(edge.source)} -> {written_id(edge.target)}{attributes}"


def _node_texts(node: Node) -> dict[str, str]:
    texts = _texts(node.attributes)
    return {**texts, "class": ",".join(node.classes)} if node.classes else texts


def _texts(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    return {key: attribute.raw for key, attribute in attributes.items()}


def _written_key(key: str) -> str:
    return key if _KEY.fullmatch(key) else f'"{escaped(key)}"'
