"""What steps and arcs write, with the target of each value in its key: `ctx.page`.

Decides what a `set` holds in its canonical form. Does not read the values.
"""

from __future__ import annotations

from collections.abc import Iterable

from anew.languages import made
from anew.languages.nodes import Entry, MapNode
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.patches import is_misnamed, key_of, patch_target


def set_of(c: Compilation, given: list[Entry], what: str) -> Entry:
    """What a step or an arc writes, under one key or several."""
    for entry in given:
        if entry.name.text != "set":
            message = f"`{entry.name.text}` of {what} is an older form"
            c.noncanonical("strict.set", entry.place, message, "`set: {ctx.name: …}`")
    first = given[0]
    if len(given) == 1:
        return _with_targets(c, made.renamed(first, "set"))
    found: dict[str, Entry] = {}
    for entry in given:
        below = c.mapping(entry, entry.key)
        _take(c, found, below or ())
    return Entry("set", first.name, made.mapping(found.values(), first.place), origins=tuple(given))


def _with_targets(c: Compilation, entry: Entry) -> Entry:
    """A `set` whose keys name what they write to; a bare one writes to ctx."""
    node = entry.node
    if not isinstance(node, MapNode):
        return entry  # reported where it is compiled
    found: dict[str, Entry] = {}
    _take(c, found, node)
    return made.renamed(entry, entry.key, made.with_entries(node, found.values()))


def _take(c: Compilation, found: dict[str, Entry], entries: Iterable[Entry]) -> None:
    for entry in entries:
        is_kept = is_misnamed(entry.key)  # reported where it is compiled
        key = entry.key if is_kept else key_of(*patch_target("set", entry.key))
        if key != entry.key:
            message = f"`set` writes {entry.key!r}"
            c.noncanonical("strict.set", entry.place, message, f"`{key}`")
        if key in found:
            message = f"`{key}` is already written in line {found[key].place.line}"
            c.report("set.twice", entry.place, message, "Keep one of the two.")
        found[key] = made.renamed(entry, key)
