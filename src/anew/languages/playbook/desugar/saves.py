"""The tasks that a step's older `save` block (also `sink`) stands for.

The storage task follows the step's own tasks, then one that gives the result of the last of those
once more: a step's result is that of its last task, and authors read the tool's there. Templates
of the block call that result `result`, `data`, `this` or `response`; the task reads it as `_prev`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from msgspec import Struct

from anew.expressions import ExpressionError
from anew.languages import made
from anew.languages.nodes import Entry, Item, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.canonical import LabelNode
from anew.languages.playbook.desugar.forms import SAVE_NAMES, TaskForm
from anew.languages.playbook.desugar.statements import Mode, statement_for
from anew.languages.playbook.desugar.tasks import task_node
from anew.languages.playbook.dialect_words import save_words
from anew.languages.playbook.translate import Untranslatable, translate
from anew.program.kinds import KINDS
from anew.program.names import RESERVED
from anew.program.span import Span

# What the block itself says; everything else in it is an input of the storage task.
SAVE_WORDS = frozenset("storage tool table data args mode key statement".split())
_OWN_TASK = "the storage task itself, with its rules, at the end of the pipeline"
# What an older runtime could also be told, and what says it today.
REFUSED_WORDS: Mapping[str, str] = {
    "when": "a rule of the task before it: `{when: …, then: {do: break}}`",
    "on": "an arc to a step that stores: `{step: …, when: \"{{ event.name == 'step.failed' }}\"}`",
    "spec": "what it holds apart from `storage`",
    "format": "a `python` task that writes the file",
    "retry": _OWN_TASK,
    "eval": _OWN_TASK,
    "set": _OWN_TASK,
}
_STORING = [kind for kind in KINDS.values() if kind.save is not None]
# Those that take statements come first, as authors know them.
STORAGES = (*(kind.name for kind in sorted(_STORING, key=lambda kind: not kind.sql)), "event")
_LOG_NAMES = frozenset({"event", "event_log"})
_COMMANDS = ("statement", "command", "commands", "query", "queries", "sql")
_ALIASES = {
    "credentialRef": "auth",
    "credential": "auth",
    "endpoint": "url",
    "timeout_seconds": "timeout",
}
_FORM = "Write `save: {storage: postgres, auth: …, table: …, data: {column: …}}`."


class Save(Struct, frozen=True):
    """The storage task of a block, as the author's own values and the texts made for it."""

    entry: Entry
    kind: str
    inputs: Mapping[str, Entry]
    texts: Mapping[str, str]


def tasks_of_save(c: Compilation, step: MapNode, forms: list[TaskForm]) -> tuple[Item, ...]:
    """The tasks at the end of the pipeline; none for a block that asks for nothing."""
    save = _read_save(c, step)
    if save is None or not forms:
        return ()
    labels = {form.label for form in forms}
    label, last = _free_label("save", labels), forms[-1].label
    place = save.entry.place
    row = made.entry(label, task_node(c, _form(c, save, label)), place, save.entry)
    rows = [Item(place, made.mapping([row], place))]
    # Where no template can read the result, there is nothing to give once more.
    if last not in RESERVED:
        kept = _free_label("result", {label, *labels})
        entry = made.entry(kept, _keeping(last, save.entry), place)
        rows.append(Item(place, made.mapping([entry], place)))
    return tuple(rows)


def _keeping(last: str, save: Entry) -> MapNode:
    place, text = save.place, f"{{{{ {last} }}}}"
    at = (place.file, place.line, place.column, -1, -1)
    result = made.entry("result", LabelNode(text, text, *at, label=last), place, save)
    kind = made.entry("kind", made.scalar("noop", place), place)
    return made.mapping([kind, result], place, is_flow=True)


def _form(c: Compilation, save: Save, label: str) -> TaskForm:
    place, verbatim = save.entry.place, KINDS[save.kind].verbatim
    kind = made.entry("kind", made.scalar(save.kind, place), place)
    fields = {
        name: made.entry(name, _quoted(text, place), place) for name, text in save.texts.items()
    }
    for name, entry in save.inputs.items():
        node = entry.node
        if name not in verbatim:
            node = made.rewritten(node, partial(_translated, c), entry.key)
        fields[name] = made.renamed(entry, name, node)
    return TaskForm(label, save.entry.name, save.entry.holder, kind, fields)


def _quoted(text: str, place: Span) -> ScalarNode:
    # Statements quote their names with `"`, and hold no other quotes.
    return made.scalar(text, place, "'" if '"' in text else "")


def _translated(c: Compilation, node: ScalarNode, key: str) -> ScalarNode:
    """A text with the block's own words for the result written as canonical tasks write them."""
    if not isinstance(node.value, str) or ("{{" not in node.value and "{%" not in node.value):
        return node
    try:
        text = translate(node.value, save_words)
    except ExpressionError:
        return node  # reported where it is compiled
    except Untranslatable as problem:
        c.report("dialect.unsupported", node.span, f"`{key}` {problem}", problem.remedy)
        return node
    return node if text == node.value else made.scalar(text, node.span)


def _free_label(word: str, taken: Collection[str]) -> str:
    """The word itself, or with the first number that makes it new."""
    labels = (word if number == 1 else f"{word}_{number}" for number in range(1, len(taken) + 2))
    return next(label for label in labels if label not in taken)


# --- the block's own words -----------------------------------------------------------------------


def _read_save(c: Compilation, step: MapNode) -> Save | None:
    """The block of a step; None when it asks for nothing or (reported) cannot be done."""
    given = [step.entries[name] for name in SAVE_NAMES if name in step]
    for extra in given[1:]:
        message = f"`{extra.key}` is another name for `{given[0].key}`; a step has one of them"
        c.report("tool.input-twice", extra.place, message, "Keep one of them.")
    entry = given[0] if given else None
    node = c.mapping(entry, entry.key) if entry is not None else None
    if entry is None or node is None:
        return None
    fields = _flattened(node)
    _report_refused(c, fields)
    kind = _read_storage(c, entry, fields)
    if kind in _LOG_NAMES:
        message = f"`{entry.key}` stores nothing: every result is in the log anyway"
        c.noncanonical("strict.save", entry.place, message, f"nothing: leave `{entry.key}` out")
        return None
    if kind is None:
        return None
    canonical = f"`- save: {{kind: {kind}, …}}` at the end of the pipeline"
    c.noncanonical("strict.save", entry.place, f"a `{entry.key}` block is used", canonical)
    return _save(c, entry, kind, fields)


def _flattened(node: MapNode) -> dict[str, Entry]:
    """The fields of the block; a storage written as a mapping holds further ones."""
    fields = dict(node.entries)
    for name in ("storage", "tool"):
        inner = fields.get(name)
        if inner is None or not isinstance(inner.node, MapNode):
            continue
        kind = inner.node.get("kind") or inner.node.get("type")
        below = {e.key: e for e in inner.node if e.key not in ("kind", "type")}
        fields = below | {key: e for key, e in fields.items() if key != name}
        if kind is not None:
            fields[name] = kind
    return fields


def _report_refused(c: Compilation, fields: Mapping[str, Entry]) -> None:
    for key, remedy in REFUSED_WORDS.items():
        if key in fields:
            message = f"`{key}` of a save is an older form that is not run"
            c.report("dialect.unsupported", fields[key].place, message, f"Write {remedy}.")


def _read_storage(c: Compilation, entry: Entry, fields: Mapping[str, Entry]) -> str | None:
    found = fields.get("storage") or fields.get("tool")
    if found is None or is_null(found.node):
        message = f"the `{entry.key}` block does not say where to store"
        c.report("save.storage", entry.holder, message, _FORM)
        return None
    name = found.node.text if isinstance(found.node, ScalarNode) else ""
    if name in STORAGES or name in _LOG_NAMES:
        return name
    c.unknown_word(found.node, list(STORAGES), rule="save.storage", what="storage")
    return None


def _save(c: Compilation, entry: Entry, kind: str, fields: Mapping[str, Entry]) -> Save | None:
    given = [fields[name] for name in ("data", "args") if name in fields]
    for extra in given[1:]:
        message = f"`{extra.key}` is another name for `{given[0].key}` here"
        c.report("tool.input-twice", extra.place, message, "Keep one of them.")
    data = given[0] if given else None
    rest = _inputs(c, fields)
    row = KINDS[kind]
    if row.sql:
        return _sql_save(c, Save(entry, kind, rest, {}), fields, data)
    _report_unused(c, fields, ("table", "mode", "key", "statement"), f"with storage {kind}")
    texts = {name: text for name, text in row.save_inputs.items() if name not in rest}
    return Save(entry, kind, _with_data(c, rest, str(row.save), data), texts)


def _inputs(c: Compilation, fields: Mapping[str, Entry]) -> dict[str, Entry]:
    """What the block gives the storage task under the names of that task."""
    inputs: dict[str, Entry] = {}
    for key, found in fields.items():
        name = _ALIASES.get(key, key)
        if key in SAVE_WORDS or key in REFUSED_WORDS:
            continue
        if name in inputs:
            message = f"`{key}` and `{inputs[name].key}` are the same input"
            c.report("tool.input-twice", found.place, message, f"Keep `{name}`.")
        inputs.setdefault(name, found)
    return inputs


def _with_data(
    c: Compilation, inputs: Mapping[str, Entry], name: str, data: Entry | None
) -> dict[str, Entry]:
    """The inputs with the block's data first, as the input `name`."""
    if data is not None and name in inputs:
        message = f"`{data.key}` is given as `{name}`, which is there too"
        c.report("tool.input-twice", inputs[name].place, message, "Keep one of them.")
    return {name: data, **inputs} if data is not None else dict(inputs)


def _report_unused(
    c: Compilation, fields: Mapping[str, Entry], names: tuple[str, ...], why: str
) -> None:
    for name in names:
        if name in fields:
            c.ignored(fields[name], why, "Remove it.")


# --- tables --------------------------------------------------------------------------------------


def _sql_save(
    c: Compilation, save: Save, fields: Mapping[str, Entry], data: Entry | None
) -> Save | None:
    statement = next((fields[name] for name in _COMMANDS if name in fields), None)
    if statement is None:
        return _table_save(c, save, fields, data)
    _report_unused(c, fields, ("table", "mode", "key"), f"next to `{statement.key}`")
    rest = {name: found for name, found in save.inputs.items() if name not in _COMMANDS}
    inputs = {"command": statement, **_with_data(c, rest, "params", data)}
    return Save(save.entry, save.kind, inputs, {})


def _table_save(
    c: Compilation, save: Save, fields: Mapping[str, Entry], data: Entry | None
) -> Save | None:
    table, columns = fields.get("table"), _columns(c, save.entry, data)
    if table is None or is_null(table.node):
        message = f"the `{save.entry.key}` block has neither `table` nor `statement`"
        c.report("save.table", save.entry.holder, message, _FORM)
        return None
    mode = c.word(fields.get("mode"), Mode, rule="save.mode", what="mode") or Mode.APPEND
    key = _key(c, fields.get("key"))
    if columns is None or data is None or key is None:
        return None
    command = statement_for(c, KINDS[save.kind], table=table, columns=columns, mode=mode, key=key)
    if command is None:
        return None
    inputs = _with_data(c, save.inputs, "params", data)
    return Save(save.entry, save.kind, inputs, {"command": command})


def _columns(c: Compilation, holder: Entry, data: Entry | None) -> MapNode | None:
    if data is not None and isinstance(data.node, MapNode) and data.node.entries:
        return data.node
    found = f"; found {shown(data.node)}" if data is not None else ""
    message = f"a save into a table needs its columns as a mapping{found}"
    place = data.node.span if data is not None else holder.holder
    c.report("save.data", place, message, "Write `data: {column: …}`, or give a `statement`.")
    return None


def _key(c: Compilation, entry: Entry | None) -> list[ScalarNode] | None:
    """The columns that identify a row: one name, or a list of them."""
    if entry is None or is_null(entry.node):
        return []
    nodes: list[Node] = [entry.node]
    if not isinstance(entry.node, ScalarNode | MapNode):
        nodes = [item.node for item in entry.node.items]
    names = [node for node in nodes if isinstance(node, ScalarNode) and not is_null(node)]
    if len(names) == len(nodes):
        return names
    message = f"`key` must be a column or a list of columns; found {shown(entry.node)}"
    c.report("save.key", entry.node.span, message, "Write `key: id` or `key: [id, day]`.")
    return None
