"""Templates made of values that are not rendered, and of several templates under names."""

from __future__ import annotations

from collections.abc import Mapping

from anew.expressions import MappingScope, Template
from anew.expressions.reads import Reads


def object_of(parts: Mapping[str, Template]) -> Template:
    """A template of an object whose values are templates."""
    source = {name: part.source for name, part in parts.items()}
    if all(part.is_constant for part in parts.values()):
        nothing = MappingScope({})
        return Template(
            source, None, constant={name: part.value(nothing) for name, part in parts.items()}
        )
    reads = Reads()
    for part in parts.values():
        reads.names |= part.names
        reads.paths |= part.paths
        reads.calls |= part.calls
        reads.compares |= part.compares
    pairs = tuple(parts.items())
    return Template(source, lambda rt: {name: part.value(rt) for name, part in pairs}, reads=reads)


def result_of(label: str) -> Template:
    """A template of what a task gave; made by hand, as a label may be no name in expressions."""
    reads = Reads()
    reads.names.add(label)
    return Template(f"{{{{ {label} }}}}", lambda scope: scope.get(label), reads=reads)
