"""Inputs of a task that are objects or words of their own, in canonical form.

A side (`source`, `target`) says with `type` what it is, and its inputs have the names of its row.
A word that stands for another becomes that one. What is wrong is reported by `playbook/sides.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages import made
from anew.languages.nodes import Entry, MapNode, ScalarNode
from anew.languages.playbook.compilation import Compilation
from anew.program.kind import SIDE_WORDS, Kind


def canonical_inputs(c: Compilation, kind: Kind, inputs: dict[str, Entry]) -> None:
    """Rewrite what is not canonical in the inputs of a task."""
    for name, rows in kind.sides.items():
        if name in inputs:
            inputs[name] = _side(c, inputs[name], rows)
    for name, words in kind.word_inputs.items():
        if name in inputs:
            inputs[name] = _word(c, inputs[name], words)


def _word(c: Compilation, entry: Entry, words: Mapping[str, str]) -> Entry:
    node = entry.node
    meant = words.get(node.text) if isinstance(node, ScalarNode) else None
    if meant is None or not isinstance(node, ScalarNode) or meant == node.text:
        return entry
    message = f"`{entry.key}` is {node.text!r}"
    c.noncanonical("strict.input", node.span, message, f"`{entry.key}: {meant}`")
    return made.renamed(entry, entry.key, made.scalar(str(meant), node.span))


def _side(c: Compilation, entry: Entry, rows: Mapping[str, Kind]) -> Entry:
    node = entry.node
    if not isinstance(node, MapNode):
        return entry
    word = next((node.entries[key] for key in SIDE_WORDS if key in node), None)
    if word is None or not isinstance(word.node, ScalarNode):
        return entry
    row = rows.get(word.node.text)
    found: dict[str, Entry] = {}
    for each in node:
        if each is word:
            name = SIDE_WORDS[0]
        else:
            name = each.key if row is None else _input_name(c, each, row, where=entry.key)
        if name in found:
            message = f"`{each.key}` and `{found[name].name.text}` are the same input"
            c.report("tool.input-twice", each.place, message, f"Keep `{name}`.")
            continue
        if name != each.key:
            message = f"the input is called `{each.key}`"
            c.noncanonical("strict.input", each.place, message, f"`{name}`")
        found[name] = made.renamed(each, name)
    return made.renamed(entry, entry.key, made.with_entries(node, found.values()))


def _input_name(c: Compilation, entry: Entry, row: Kind, *, where: str) -> str:
    name = row.canonical(entry.key)
    if name not in row.inputs and name != "auth":
        known = {*row.inputs, *row.aliases, "auth", SIDE_WORDS[0]}
        c.unknown_key(entry, known, f"`{where}` of type {row.name}", is_input=True)
    return name
