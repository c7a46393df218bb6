"""Check attributes: that they are known where they stand, and have values they can have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anew.languages.dot.attributes import duration_meant, shown
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.fidelity import GRAPH_KEYS
from anew.languages.dot.graph import Attribute, Node
from anew.languages.dot.node_types import TYPES
from anew.languages.dot.settings import Holder, given
from anew.languages.dot.vocabulary import (
    EDGE,
    GRAPH,
    LAYOUT,
    NODES,
    WITHOUT_EFFECT,
    Check,
    is_duration,
)
from anew.program.findings import Severity
from anew.program.kinds import FIDELITIES


def check_values(c: GraphCompilation) -> None:
    nodes, edges = c.graph.nodes.values(), c.graph.edges
    _check(c, [c.graph], GRAPH, "a graph")
    _check(c, nodes, NODES[c.dialect], "a node")
    _check(c, edges, EDGE, "an edge")
    holders: list[Holder] = [c.graph, *nodes, *edges]
    for holder in holders:
        _check_fidelity(c, holder)


def _check(
    c: GraphCompilation, holders: Iterable[Holder], known: Mapping[str, Check], of: str
) -> None:
    """Each unknown key is told once: a habit of the author's, not a mistake at each place."""
    told: set[str] = set()
    for holder in holders:
        for attribute in holder.attributes.values():
            check = known.get(attribute.key)
            if check is not None:
                _check_value(c, attribute, check)
            elif _has_own_words(c, holder):
                continue
            elif attribute.key not in LAYOUT and attribute.key not in told:
                told.add(attribute.key)
                _unknown(c, attribute, known, of)


def _has_own_words(c: GraphCompilation, holder: Holder) -> bool:
    """Whether it is a node of a type that code brings, whose attributes only that code knows."""
    if not isinstance(holder, Node):
        return False
    kind = c.types[holder.id]
    return TYPES.get(kind.name) is not kind


def _check_value(c: GraphCompilation, attribute: Attribute, check: Check) -> None:
    if not attribute.raw.strip():
        return  # an empty value says nothing
    message = check(attribute)
    if message is not None and c.is_first("attribute-value", attribute):
        meant = duration_meant(attribute.raw) if check is is_duration else None
        remedy = f"Did you mean `{meant}`?" if meant else "Correct the value, or remove it."
        c.report("attribute-value", attribute.span, message, remedy)


def _unknown(
    c: GraphCompilation, attribute: Attribute, known: Mapping[str, Check], of: str
) -> None:
    message = f"{attribute.key!r} is not an attribute of {of} in the {c.dialect} dialect"
    if attribute.key in WITHOUT_EFFECT:
        message = f"{attribute.key!r} of {of} has no effect"
    remedy, is_misspelt = _remedy(c, attribute.key, known)
    severity = Severity.WARNING if is_misspelt else None
    c.report("attribute-unknown", attribute.key_span, message, remedy, severity=severity)


def _remedy(c: GraphCompilation, key: str, known: Mapping[str, Check]) -> tuple[str, bool]:
    """What to do about the key, and whether another one was probably meant."""
    if key in WITHOUT_EFFECT:
        return WITHOUT_EFFECT[key], False
    tables = {"graph": GRAPH, "nodes": NODES[c.dialect], "edges": EDGE}
    elsewhere = [where for where, table in tables.items() if key in table]
    if elsewhere:
        return f"It is an attribute of {' and '.join(elsewhere)}.", False
    near = c.suggestions.near(key, known)
    if near is None:
        return "Remove it: it does nothing.", False
    return f"Did you mean {near!r}?", True


def _check_fidelity(c: GraphCompilation, holder: Holder) -> None:
    found = given(holder, "fidelity", *GRAPH_KEYS)
    if found is None or found.raw.strip() in FIDELITIES:
        return
    if c.is_first("fidelity_valid", found):
        message = f"the fidelity {shown(found.raw)} is not known, so the next one that is counts"
        c.report("fidelity_valid", found.span, message, f"Write one of {', '.join(FIDELITIES)}.")
