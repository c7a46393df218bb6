"""Build the canonical form of a step from any accepted one.

Decides names, places and order; the author's own values are taken over as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.canonical_policy import PolicyWriter, policy_block
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.emit import Block, Inline, Key, Out, Raw, RawItem, Rows, scalar
from anew.languages.playbook.forms import TaskForm, read_task_form
from anew.languages.playbook.inputs import SPEC_KEYS
from anew.languages.playbook.steps import read_step_forms
from anew.languages.playbook.translating import Words
from anew.program.kinds import KINDS, Kind
from anew.program.program import Dialect, Step
from anew.program.span import Span

_ARGS = ("args", "input", "with", "set")
_POLICY_FIELDS = frozenset({"spec", "eval", "retry", "set"})


class Writer(Struct, frozen=True):
    """`is_touched` says whether something between two places is not canonical."""

    c: Compilation
    words: Words
    is_touched: Callable[[Span, Node], bool]

    # --- steps -----------------------------------------------------------------------------------

    def step(self, item: Item, step: Step) -> Block:
        node = item.node
        assert isinstance(node, MapNode)
        forms = read_step_forms(self.c, node, step.name, item)
        moved = {key for form in forms for key in form.fields if key in node.entries}
        words = self.words.for_step(step)
        keys = list(self._step_keys(node, step, forms, moved, words))
        if "tool" not in node and "type" not in node:
            at = next((i for i, key in enumerate(keys) if key.name == "next"), len(keys))
            keys.insert(at, Key("tool", Inline("{kind: noop}")))
        return Block(tuple(keys))

    def _step_keys(
        self, node: MapNode, step: Step, forms: list[TaskForm], moved: set[str], words: Words
    ) -> Iterator[Key]:
        is_on_step = len(forms) == 1 and forms[0].is_on_step
        for entry in node:
            match entry.key:
                case "tool" | "type" if entry.key == "tool" or "tool" not in node:
                    yield Key("tool", self._tool(entry, forms, step, words), (entry,))
                case "next":
                    yield Key("next", self._next(entry, words), (entry,))
                case "when":
                    if "spec" not in node:
                        yield Key("spec", self._spec(None, entry, words), (entry,))
                case "spec":
                    value = self._spec(entry, node.get("when"), words, drops_timeout=is_on_step)
                    if value is not None:
                        yield Key("spec", value, (entry,))
                case "loop":
                    yield Key("loop", self._loop(entry, words), (entry,))
                case key if key in moved:
                    continue
                case _:
                    yield Key(entry.key, Raw(entry), (entry,))

    def _spec(
        self, spec: Entry | None, when: Entry | None, words: Words, *, drops_timeout: bool = False
    ) -> Out:
        entries = list(spec.node) if spec is not None and isinstance(spec.node, MapNode) else []
        kept = [e for e in entries if not (drops_timeout and e.key == "timeout")]
        if when is None:
            keys = tuple(Key(e.key, words.value(e), (e,)) for e in kept)
            return Block(keys) if keys else Inline("{}")
        allow = Block((Key("when", words.value(when)), Key("then", Inline("{allow: true}"))))
        refuse = Block((Key("else", Inline("{then: {allow: false}}")),))
        admit = Key("admit", Block((Key("rules", Rows((allow, refuse))),)))
        policy = next((e for e in kept if e.key == "policy" and isinstance(e.node, MapNode)), None)
        inner = [Key(e.key, Raw(e), (e,)) for e in policy.node] if policy is not None else []  # type: ignore[union-attr]
        rest = [Key(e.key, Raw(e), (e,)) for e in kept if e is not policy]
        return Block((*rest, Key("policy", Block((*inner, admit)))))

    def _loop(self, entry: Entry, words: Words) -> Out:
        node = entry.node
        if not isinstance(node, MapNode) or not (
            self.is_touched(entry.place, node) or words.speaks
        ):
            return Raw(entry)
        beside = [e for e in node if e.key in ("mode", "max_in_flight")]
        spec = node.get("spec")
        inside = list(spec.node) if spec is not None and isinstance(spec.node, MapNode) else []
        given = {e.key: e for e in [*beside, *inside]}
        keys = [
            Key(e.key, words.value(e), (e,))
            for e in node
            if e.key not in ("mode", "max_in_flight", "spec")
        ]
        if given:
            keys.append(Key("spec", Block(tuple(Key(k, Raw(e), (e,)) for k, e in given.items()))))
        return Block(tuple(keys))

    # --- tools -----------------------------------------------------------------------------------

    def _tool(self, entry: Entry, forms: list[TaskForm], step: Step, words: Words) -> Out:
        node = entry.node
        is_whole = not any(self._has_step_fields(entry, form) for form in forms)
        if is_whole and not self.is_touched(entry.place, node):
            return Raw(entry)
        if not isinstance(node, ListNode):
            return Block(tuple(self.task_keys(forms[0], step.tasks[0].dialect, words)))
        rows: list[Block | RawItem] = []
        for item, form, task in zip(node.items, forms, step.tasks, strict=True):
            if self.is_touched(item.place, item.node) or self._has_step_fields(item, form):
                block = Block(tuple(self.task_keys(form, task.dialect, words)))
                rows.append(Block((Key(form.label, block),)))
            else:
                rows.append(RawItem(item))
        return Rows(tuple(rows))

    def _has_step_fields(self, holder: Entry | Item, form: TaskForm) -> bool:
        """Whether the task has fields that do not stand in its own text."""
        begin, end = holder.node.begin, holder.node.end
        return any(not begin <= e.name.begin < end for e in form.fields.values())

    def task_keys(self, form: TaskForm, dialect: Dialect, words: Words) -> Iterator[Key]:
        words = words.for_task(dialect)
        kind_name = form.kind.text if isinstance(form.kind, ScalarNode) else "noop"
        kind = KINDS.get(kind_name) or Kind(kind_name, is_open=True)
        yield Key("kind", scalar(kind_name))
        spec = form.fields.get("spec")
        inner = spec.node if spec is not None and isinstance(spec.node, MapNode) else None
        fields = [e for e in form.fields.values() if e.key not in _POLICY_FIELDS]
        timeout = None if "timeout" in kind.inputs else form.fields.get("timeout")
        names = {kind.canonical(e.key) for e in fields}
        fields += [
            e for e in inner or () if e.key not in SPEC_KEYS and kind.canonical(e.key) not in names
        ]
        for entry in fields:
            if entry is not timeout:
                yield Key(kind.canonical(entry.key), words.value(entry, kind.verbatim), (entry,))
        settings = [e for e in inner or () if e.key in SPEC_KEYS and e.key != "policy"]
        if timeout is not None and not any(e.key == "timeout" for e in settings):
            settings.append(timeout)
        keys = [Key(e.key, Raw(e), (e,)) for e in settings]
        policy = policy_block(PolicyWriter(self.c, dialect, words), form)
        if policy is not None:
            keys.append(policy)
        if keys:
            yield Key("spec", Block(tuple(keys)))

    # --- next ------------------------------------------------------------------------------------

    def _next(self, entry: Entry, words: Words) -> Out:
        node = entry.node
        if isinstance(node, ScalarNode) and node.value is None:
            return Inline("{arcs: []}")
        if isinstance(node, MapNode) and ("arcs" in node or "spec" in node):
            if not self.is_touched(entry.place, node) and not words.speaks:
                return Raw(entry)
            arcs = node.get("arcs")
            rows = (
                self._arcs(arcs.node.items, words)
                if arcs and isinstance(arcs.node, ListNode)
                else Rows(())
            )
            rest = tuple(Key(e.key, Raw(e), (e,)) for e in node if e is not arcs)
            return Block((*rest, Key("arcs", rows, (arcs,) if arcs else ())))
        items = node.items if isinstance(node, ListNode) else (Item(entry.place, node, node.begin),)
        asks = any(isinstance(i.node, MapNode) and "when" in i.node for i in items)
        mode = "exclusive" if asks or not isinstance(node, ListNode) else "inclusive"
        spec = Key("spec", Inline(f"{{mode: {mode}}}"))
        return Block((spec, Key("arcs", self._arcs(items, words))))

    def _arcs(self, items: tuple[Item, ...], words: Words) -> Rows:
        return Rows(tuple(self._arc(item, words) for item in items))

    def _arc(self, item: Item, words: Words) -> Block | RawItem:
        node = item.node
        if isinstance(node, MapNode):
            names = dict.fromkeys(_ARGS, "args")
            return Block(tuple(Key(names.get(e.key, e.key), words.value(e), (e,)) for e in node))
        return Block((Key("step", scalar(node.text if isinstance(node, ScalarNode) else "")),))

    # --- workbook --------------------------------------------------------------------------------

    def workbook(self, entry: Entry, dialects: dict[str, Dialect]) -> Out:
        rows = []
        for item in _workbook_items(entry):
            form = read_task_form(self.c, item, "")
            if form is None:
                continue
            task = Block(tuple(self.task_keys(form, dialects[form.label], self.words)))
            rows.append(Block((Key("name", scalar(form.label)), Key("tool", task))))
        return Rows(tuple(rows))


def _workbook_items(entry: Entry) -> Iterator[Item]:
    node = entry.node
    if isinstance(node, ListNode):
        yield from node.items
        return
    tasks = node.get("tasks") if isinstance(node, MapNode) and len(node.entries) == 1 else None
    inner = tasks.node if tasks is not None and isinstance(tasks.node, MapNode) else node
    for named in inner if isinstance(inner, MapNode) else ():
        single = MapNode({named.key: named}, named.place, named.name.begin, named.node.end)
        yield Item(named.place, single, named.name.begin)


def merged_workload(workload: Entry, extra: MapNode) -> Block:
    """The workload with what root `vars` adds to it."""
    keys = (
        [Key(e.key, Raw(e), (e,)) for e in workload.node]
        if isinstance(workload.node, MapNode)
        else []
    )
    known = {key.name for key in keys}
    keys += [Key(e.key, scalar(plain(e.node)), (e,)) for e in extra if e.key not in known]
    return Block(tuple(keys))
