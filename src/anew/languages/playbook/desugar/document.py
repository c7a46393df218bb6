"""A whole document in its canonical form: its steps, its workbook and its keychain."""

from __future__ import annotations

from anew.languages import made
from anew.languages.nodes import Entry, ListNode, MapNode
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.older_state import with_ctx
from anew.languages.playbook.desugar.shell_commands import is_for_bash
from anew.languages.playbook.desugar.steps import canonical_step


def desugar(c: Compilation, root: MapNode) -> MapNode:
    """The canonical document: `root` itself where nothing has to change."""
    c.is_for_bash = is_for_bash(root)
    return made.with_entries(root, [_section(c, entry) for entry in with_ctx(c, root)])


def _section(c: Compilation, entry: Entry) -> Entry:
    match entry.key:
        case "workflow" if isinstance(entry.node, ListNode):
            steps = (canonical_step(c, item) for item in entry.node.items)
            return made.renamed(entry, "workflow", made.with_items(entry.node, steps))
        case "workbook" | "keychain":
            # Few documents have either.
            from anew.languages.playbook.desugar import workbook  # noqa: PLC0415

            of = workbook.workbook_of if entry.key == "workbook" else workbook.keychain_of
            return of(c, entry)
        case _:
            return entry
