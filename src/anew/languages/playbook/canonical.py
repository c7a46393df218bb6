"""Build the canonical form of a step from any accepted one.

Decides names, places and order; the author's own values are taken over as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.canonical_policy import PolicyWriter, policy_block
from anew.languages.playbook.canonical_save import save_rows
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.emit import Block, Inline, Key, Out, Raw, RawItem, Rows, scalar
from anew.languages.playbook.forms import (
    SAVE_NAMES,
    TaskForm,
    read_task_form,
    timeout_beside,
)
from anew.languages.playbook.inputs import SPEC_KEYS
from anew.languages.playbook.steps import read_step_forms
from anew.languages.playbook.translating import CannotTranslate, Words
from anew.program.kinds import kind_named
from anew.program.program import Dialect, Step
from anew.program.span import Span

_ARC_ARGS = ("args", "input", "with", "set")
_ALLOW, _REFUSE = "{allow: true}", "{allow: false}"
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
        stored = save_rows(self.c, node, forms=forms, words=self.words)
        keys = list(self._step_keys(node, step, forms, moved, words, stored=stored))
        if "tool" not in node and "type" not in node:
            at = next((i for i, key in enumerate(keys) if key.name == "next"), len(keys))
            keys.insert(at, Key("tool", self._no_tool(forms[0], step, words, stored)))
        return Block(tuple(keys), item)

    def _no_tool(self, form: TaskForm, step: Step, words: Words, stored: tuple[Block, ...]) -> Out:
        if form.fields or stored:
            return self._alone(form, step, words, stored)
        return Inline("{kind: noop}")

    def _alone(self, form: TaskForm, step: Step, words: Words, stored: tuple[Block, ...]) -> Out:
        """The step's only task, or a list of it and those of a save."""
        task = Block(tuple(self.task_keys(form, step.tasks[0].dialect, words)))
        return Rows((Block((Key(form.label, task),)), *stored)) if stored else task

    def _step_keys(
        self,
        node: MapNode,
        step: Step,
        forms: list[TaskForm],
        moved: set[str],
        words: Words,
        *,
        stored: tuple[Block, ...],
    ) -> Iterator[Key]:
        is_on_step = len(forms) == 1 and forms[0].is_on_step
        for entry in node:
            match entry.key:
                case "tool" | "type" if entry.key == "tool" or "tool" not in node:
                    yield Key("tool", self._tool(entry, forms, step, words, stored), (entry,))
                case "next":
                    yield Key("next", self._next(entry, words), (entry,))
                case "when":
                    if "spec" not in node:
                        yield Key("spec", self._spec(None, entry, words), (entry,))
                case "spec":
                    value = self._spec(entry, node.get("when"), words, drops_timeout=is_on_step)
                    if value != Block(()):
                        yield Key("spec", value, (entry,))
                case "loop":
                    yield Key("loop", self._loop(entry, words), (entry,))
                case key if key in moved or key in SAVE_NAMES:
                    continue
                case "args" | "input" | "with":
                    yield Key("args", self._args(entry, step), (entry,))
                case _:
                    yield Key(entry.key, Raw(entry), (entry,))

    def _args(self, entry: Entry, step: Step) -> Out:
        """The step's own arguments, which each task reads in its own dialect."""
        found = [self.words.for_inputs(task.dialect).value(entry) for task in step.tasks]
        if any(value != found[0] for value in found):
            why = "is read by tasks of several dialects"
            raise CannotTranslate(entry, why, "Give each task its own `args`.")
        return found[0]

    def _spec(
        self, spec: Entry | None, when: Entry | None, words: Words, *, drops_timeout: bool = False
    ) -> Out:
        entries = list(spec.node) if spec is not None and isinstance(spec.node, MapNode) else []
        kept = [e for e in entries if not (drops_timeout and e.key == "timeout")]
        is_same = when is None and len(kept) == len(entries) and not words.speaks
        if spec is not None and is_same and not self.is_touched(spec.place, spec.node):
            return Raw(spec)
        policy = next((e for e in kept if e.key == "policy" and isinstance(e.node, MapNode)), None)
        keys = [Key(e.key, Raw(e), (e,)) for e in kept if e is not policy]
        inner = list(self._step_policy(policy, words)) if policy is not None else []
        if when is not None:
            asks = Key("when", words.condition(when), (when,))
            allow = Block((asks, Key("then", Inline(_ALLOW))))
            refuse = Block((Key("else", Inline(f"{{then: {_REFUSE}}}")),))
            inner.append(Key("admit", Block((Key("rules", Rows((allow, refuse))),))))
        if policy is not None or inner:
            keys.append(Key("policy", Block(tuple(inner)), (policy,) if policy is not None else ()))
        return Block(tuple(keys))

    def _step_policy(self, policy: Entry, words: Words) -> Iterator[Key]:
        for entry in policy.node if isinstance(policy.node, MapNode) else ():
            is_admit = entry.key == "admit" and isinstance(entry.node, MapNode)
            if is_admit and (words.speaks or self.is_touched(entry.place, entry.node)):
                yield Key("admit", admit_block(entry, words), (entry,))
            else:
                yield Key(entry.key, Raw(entry), (entry,))

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
            inner = tuple(Key(k, words.value(e), (e,)) for k, e in given.items())
            keys.append(Key("spec", Block(inner), (spec,) if spec is not None else ()))
        return Block(tuple(keys))

    # --- tools -----------------------------------------------------------------------------------

    def _tool(
        self,
        entry: Entry,
        forms: list[TaskForm],
        step: Step,
        words: Words,
        stored: tuple[Block, ...],
    ) -> Out:
        node = entry.node
        is_whole = not stored and not any(self._has_step_fields(entry, form) for form in forms)
        if is_whole and not self.is_touched(entry.place, node):
            return Raw(entry)
        if not isinstance(node, ListNode):
            return self._alone(forms[0], step, words, stored)
        rows: list[Block | RawItem] = []
        for item, form, task in zip(node.items, forms, step.tasks[: len(forms)], strict=True):
            if self.is_touched(item.place, item.node) or self._has_step_fields(item, form):
                block = Block(tuple(self.task_keys(form, task.dialect, words)))
                label = _entry_with(item.node, form.label) or _entry_with(item.node, "name")
                rows.append(Block((Key(form.label, block, label),), item))
            else:
                rows.append(RawItem(item))
        return Rows((*rows, *stored))

    def _has_step_fields(self, holder: Entry | Item, form: TaskForm) -> bool:
        """Whether the task has fields that do not stand in its own text."""
        begin, end = holder.node.begin, holder.node.end
        return any(not begin <= e.name.begin < end for e in form.fields.values())

    def task_keys(self, form: TaskForm, dialect: Dialect, words: Words) -> Iterator[Key]:
        rules, words = words.for_rules(dialect), words.for_inputs(dialect)
        kind_name = form.kind.text if isinstance(form.kind, ScalarNode) else "noop"
        kind = kind_named(kind_name)
        yield Key("kind", scalar(kind_name), _kind_origin(form))
        spec = form.fields.get("spec")
        inner = spec.node if spec is not None and isinstance(spec.node, MapNode) else None
        fields = [e for e in form.fields.values() if e.key not in _POLICY_FIELDS]
        timeout = None if "timeout" in kind.inputs else timeout_beside(form.fields)
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
        keys = [Key("timeout" if e is timeout else e.key, Raw(e), (e,)) for e in settings]
        policy = policy_block(PolicyWriter(self.c, dialect, rules), form)
        if policy is not None:
            keys.append(policy)
        if keys:
            yield Key("spec", Block(tuple(keys)), (spec,) if spec is not None else ())

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
        if not isinstance(node, ListNode):
            arc = Block(tuple(self._arc_keys(node, words)))
            return Block((Key("spec", Inline("{mode: exclusive}")), Key("arcs", Rows((arc,)))))
        asks = any(isinstance(i.node, MapNode) and "when" in i.node for i in node.items)
        spec = Key("spec", Inline("{mode: exclusive}" if asks else "{mode: inclusive}"))
        return Block((spec, Key("arcs", self._arcs(node.items, words))))

    def _arcs(self, items: tuple[Item, ...], words: Words) -> Rows:
        return Rows(tuple(Block(tuple(self._arc_keys(i.node, words)), i) for i in items))

    def _arc_keys(self, node: Node, words: Words) -> Iterator[Key]:
        if isinstance(node, ScalarNode):
            yield Key("step", scalar(node.text))
        for entry in node if isinstance(node, MapNode) else ():
            name = "args" if entry.key in _ARC_ARGS else entry.key
            is_condition = entry.key == "when"
            value = words.condition(entry) if is_condition else words.value(entry)
            yield Key(name, value, (entry,))

    # --- workbook --------------------------------------------------------------------------------

    def workbook(self, entry: Entry, dialects: dict[str, Dialect]) -> Rows:
        rows: list[Block | RawItem] = []
        for index, item in enumerate(_workbook_items(entry)):
            form = read_task_form(self.c, item, f"task_{index}")
            if form is None:
                continue
            if isinstance(entry.node, ListNode) and not self.is_touched(item.place, item.node):
                rows.append(RawItem(item))
                continue
            task = Block(tuple(self.task_keys(form, dialects[form.label], self.words)))
            label = _entry_with(item.node, form.label) or _entry_with(item.node, "name")
            tool = Key("tool", task, _entry_with(item.node, "tool"))
            rows.append(Block((Key("name", scalar(form.label), label), tool), item))
        return Rows(tuple(rows))


def _entry_with(node: Node, key: str) -> tuple[Entry, ...]:
    """The entry of a mapping with this key, where there is one: its comments go along."""
    found = node.get(key) if isinstance(node, MapNode) else None
    return () if found is None else (found,)


def _kind_origin(form: TaskForm) -> tuple[Entry, ...]:
    """What stands in the source for `kind`, whichever key it has there."""
    node = form.kind
    return (Entry("kind", node, node),) if isinstance(node, ScalarNode) else ()


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


# --- admission, workload, keychain ---------------------------------------------------------------


def admit_block(admit: Entry, words: Words) -> Block:
    """`admit` with every rule as `{when, then: {allow}}` or `{else: {then: {allow}}}`."""
    keys = []
    for entry in admit.node if isinstance(admit.node, MapNode) else ():
        value: Out = Raw(entry)
        if entry.key == "rules" and isinstance(entry.node, ListNode):
            value = Rows(tuple(_admit_rule(item, words) for item in entry.node.items))
        keys.append(Key(entry.key, value, (entry,)))
    return Block(tuple(keys))


def _admit_rule(item: Item, words: Words) -> Block | RawItem:
    if not isinstance(item.node, MapNode):
        return RawItem(item)
    otherwise, when = item.node.get("else"), item.node.get("when")
    fields = item.node
    for key in ("else", "then"):
        inner = fields.get(key)
        if inner is not None and isinstance(inner.node, MapNode):
            fields = inner.node
    allow = fields.get("allow")
    text = _ALLOW if allow is not None and plain(allow.node) is True else _REFUSE
    if when is not None and otherwise is None:
        then = Key("then", Inline(text), (allow,) if allow is not None else ())
        return Block((Key("when", words.condition(when), (when,)), then), item)
    origins = tuple(e for e in (otherwise, allow) if e is not None)
    return Block((Key("else", Inline(f"{{then: {text}}}"), origins),), item)


def merged_workload(node: Node, extra: Node) -> Block:
    """The workload laid on what root `vars` adds to it, as loading does it."""
    own = node.entries if isinstance(node, MapNode) else {}
    others = extra.entries if isinstance(extra, MapNode) else {}
    keys = [_merged_key(entry, others.get(name)) for name, entry in own.items()]
    keys += [Key(name, Raw(e), (e,)) for name, e in others.items() if name not in own]
    return Block(tuple(keys))


def _merged_key(entry: Entry, other: Entry | None) -> Key:
    both = other is not None and isinstance(other.node, MapNode) and isinstance(entry.node, MapNode)
    if other is None or not both:
        return Key(entry.key, Raw(entry), (entry,))
    return Key(entry.key, merged_workload(entry.node, other.node), (entry, other))


def keychain_rows(node: MapNode) -> Rows:
    """The credentials of a mapping as a list of `{name, …}`; a name of their own wins."""
    rows = []
    for entry in node:
        inner = entry.node if isinstance(entry.node, MapNode) else MapNode({}, entry.place, 0, 0)
        own = [] if "name" in inner else [Key("name", scalar(entry.key), (entry,))]
        rows.append(Block((*own, *(Key(e.key, Raw(e), (e,)) for e in inner))))
    return Rows(tuple(rows))
