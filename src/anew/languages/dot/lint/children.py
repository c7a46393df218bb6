"""Check that the files of children are there. Looks at them, and neither reads nor keeps them.

A child is read when its node begins. What lies outside the document's folder is not looked at,
and nothing is when the document itself is no file, or was kept with its files.
"""

from __future__ import annotations

from anew.languages.dot.attributes import shown
from anew.languages.dot.children import CHILD_TYPES, child_of, child_stated
from anew.languages.dot.compilation import GraphCompilation

_REMEDY = "Put it there, or correct the path, which starts at the document's folder."


def check_children(c: GraphCompilation) -> None:
    beside = None if c.source is None else c.source.beside
    if beside is None or not beside.is_on_disk:
        return
    told: set[str] = set()
    for node in c.graph.nodes.values():
        file = child_of(c, node) if c.types[node.id].name in CHILD_TYPES else ""
        if not file or file in told:
            continue
        told.add(file)
        why, stated = beside.why_unreadable(file), child_stated(c, node)
        if why is not None and stated is not None:
            message = f"the child {shown(file)} of node {node.id!r} cannot be read: {why}"
            c.report("child-file", stated.span, message, _REMEDY)
