"""Compile a step's `save` block to the tasks that stand for it.

The storage task comes after the step's own, then one that gives the result of the last of those
once more: a step's result is that of its last task, and authors read the tool's there.
"""

from __future__ import annotations

from msgspec.structs import replace

from anew.expressions import ExpressionError, Template
from anew.expressions.reads import Reads
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.composing import object_of
from anew.languages.playbook.dialect_words import save_words
from anew.languages.playbook.forms import TaskForm
from anew.languages.playbook.saves import Save, free_label, read_save
from anew.languages.playbook.tasks import TaskRead, read_task
from anew.languages.playbook.translate import Untranslatable, translate
from anew.program.kinds import KINDS
from anew.program.names import RESERVED
from anew.program.program import Task
from anew.program.span import Span


def read_storing(
    c: Compilation, step: MapNode, forms: list[TaskForm], args: Entry | None
) -> list[TaskRead]:
    """The tasks that the step's `save` block stands for."""
    labels = frozenset(form.label for form in forms)
    save = read_save(c, step, labels)
    if save is None or not forms:
        return []
    reads = [read_task(c, _form(c, save), labels=labels, args=args)]
    kept = kept_label(forms, save)
    if kept is not None:
        reads.append(TaskRead(_keeping(kept, forms[-1].label, save.entry.place), False))
    return reads


def kept_label(forms: list[TaskForm], save: Save) -> str | None:
    """The label of the task that keeps the result; None where no template can read it anyway."""
    if forms[-1].label in RESERVED:
        return None
    return free_label("result", {save.label, *(form.label for form in forms)})


def _keeping(label: str, of: str, place: Span) -> Task:
    reads = Reads()
    reads.names.add(of)
    # Made by hand, because a label may be no name that an expression can hold.
    result = Template(f"{{{{ {of} }}}}", lambda scope: scope.get(of), reads=reads)
    return Task(label, "noop", object_of({"result": result}), span=place)


def _form(c: Compilation, save: Save) -> TaskForm:
    place = save.entry.name
    verbatim = KINDS[save.kind].verbatim
    fields = {name: Entry(name, place, _made(text, place)) for name, text in save.made.items()}
    for name, entry in save.inputs.items():
        node = entry.node if name in verbatim else _said(c, entry, entry.node)
        fields[name] = Entry(name, entry.name, node, entry.alias_end)
    kind = _made(save.kind, place)
    return TaskForm(save.label, save.entry.place, save.entry.holder, kind, fields)


def _made(text: str, place: ScalarNode) -> ScalarNode:
    """A text that nobody wrote, which stands where the block does."""
    return replace(place, value=text, text=text)


def _said(c: Compilation, entry: Entry, node: Node) -> Node:
    """A value with the block's own words for the result said as canonical tasks say them."""
    match node:
        case ScalarNode():
            return _said_text(c, entry, node)
        case ListNode():
            items = (
                Item(i.place, _said(c, entry, i.node), i.begin, i.alias_end) for i in node.items
            )
            return replace(node, items=tuple(items))
        case MapNode():
            entries = {e.key: replace(e, node=_said(c, e, e.node)) for e in node}
            return replace(node, entries=entries)


def _said_text(c: Compilation, entry: Entry, node: ScalarNode) -> ScalarNode:
    if not isinstance(node.value, str) or ("{{" not in node.value and "{%" not in node.value):
        return node
    try:
        text = translate(node.value, save_words)
    except ExpressionError:
        return node  # reported where it is compiled
    except Untranslatable as problem:
        message = f"`{entry.key}` {problem}"
        c.report("dialect.unsupported", node.span, message, problem.remedy)
        return node
    return node if text == node.value else replace(node, value=text, text=text)
