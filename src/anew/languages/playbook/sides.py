"""Check the inputs of a task that are sides of a transfer, or one of a few words.

What each side takes is in its row of `program/transfer.py`. Templates are judged when they are
rendered.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, MapNode, Node, ScalarNode, is_null, scalars
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.refusals import report_foreign_side
from anew.program.kind import SIDE_WORDS, Kind
from anew.program.transfer import TARGET_MODES, TRANSFER, TRANSFER_BATCH_ROWS_MAX, TransferMode

_SIZE_FORM = "Write `batch_size: 1000`."


def check_sides(c: Compilation, kind: Kind, inputs: Mapping[str, Entry]) -> None:
    """Report what a task with sides or words cannot do."""
    for name, words in kind.word_inputs.items():
        entry = inputs.get(name)
        if entry is None or is_null(entry.node) or not _is_known(entry.node):
            continue
        if _text(entry) not in words:
            known = list(dict.fromkeys(map(str, words.values())))
            c.unknown_word(entry.node, known, rule="tool.input-word", what=name)
    found = {name: _row(c, inputs.get(name), rows) for name, rows in kind.sides.items()}
    for name, row in found.items():
        if row is not None:
            _check_side(c, inputs[name], row)
    if kind is TRANSFER:
        _check_size(c, inputs.get("batch_size"))
        _check_mode(c, inputs, found.get("target"))


def _row(c: Compilation, side: Entry | None, rows: Mapping[str, Kind]) -> Kind | None:
    """What a side is; None when that is not known, or is reported."""
    if side is None or is_null(side.node) or not _is_known(side.node):
        return None
    if not isinstance(side.node, MapNode):
        message = f"`{side.key}` must be an object with `type`; found {shown(side.node)}"
        c.report("tool.input", side.node.span, message, _form(side.key, rows))
        return None
    word = side.node.get(SIDE_WORDS[0])
    if word is None or is_null(word.node):
        message = f"`{side.key}` does not say what it is"
        c.report("tool.input-missing", side.place, message, _form(side.key, rows))
        return None
    row = rows.get(_text(word))
    if row is None and _is_known(word.node):
        if isinstance(word.node, ScalarNode) and report_foreign_side(c, word.node, side.key):
            return None
        what = f"{side.key}.type"
        c.unknown_word(word.node, list(rows), rule="tool.input-word", what=what)
    return row


def _form(name: str, rows: Mapping[str, Kind]) -> str:
    return f"Write `{name}: {{type: …}}` with one of {', '.join(rows)}."


def _check_side(c: Compilation, side: Entry, row: Kind) -> None:
    assert isinstance(side.node, MapNode)
    given = {key: entry for key, entry in side.node.entries.items() if not is_null(entry.node)}
    what = f"`{side.key}` of type {row.name}"
    for group in row.required:
        if not given.keys() & set(group):
            words = " or ".join(f"`{name}`" for name in group)
            message = f"{what} needs {words}"
            c.report("tool.input-missing", side.place, message, f"Add `{group[0]}: …`.")
    for group in row.choices:
        for extra in [given[name] for name in group if name in given][1:]:
            words = ", ".join(f"`{name}`" for name in group)
            message = f"{what} takes one of {words}, not several"
            c.report("tool.input-twice", extra.place, message, "Keep one of them.")
    for name in row.sql & given.keys():
        for scalar in scalars(given[name].node):
            if not _is_known(scalar):
                message = (
                    "a template is spliced into SQL text, which lets values change the statement"
                )
                remedy = "Pass the value with `params`, which are bound and never spliced."
                c.report("sql.template", scalar.span, message, remedy)


def _check_size(c: Compilation, entry: Entry | None) -> None:
    if entry is None or is_null(entry.node) or not _is_known(entry.node):
        return
    text = _text(entry)
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= TRANSFER_BATCH_ROWS_MAX):
        message = f"batch_size must be a whole number from 1 to {TRANSFER_BATCH_ROWS_MAX:,}"
        found = f"{message}; found {shown(entry.node)}"
        c.report("tool.input", entry.node.span, found, _SIZE_FORM)


def _check_mode(c: Compilation, inputs: Mapping[str, Entry], target: Kind | None) -> None:
    entry = inputs.get("mode")
    if entry is None or target is None or _text(entry) not in set(TransferMode):
        return
    mode, side = TransferMode(_text(entry)), inputs["target"]
    possible = TARGET_MODES.get(target.name, tuple(TransferMode))
    if mode not in possible:
        message = f"a target of type {target.name} cannot be written with mode {mode}"
        remedy = f"Write `mode: {' or '.join(possible)}`."
        c.report("tool.input-twice", entry.node.span, message, remedy)
    elif mode is TransferMode.UPSERT and isinstance(side.node, MapNode) and "key" not in side.node:
        message = "`mode: upsert` needs the columns that say which row is which"
        c.report("tool.input", side.place, message, "Add `key: [id]` to `target`.")


def _text(entry: Entry) -> str:
    return entry.node.text if isinstance(entry.node, ScalarNode) else ""


def _is_known(node: Node) -> bool:
    """Whether it is not a template."""
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        return True
    return "{{" not in node.value and "{%" not in node.value
