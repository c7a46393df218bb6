"""Rewrite a playbook of any dialect to the canonical `policy` form.

Only steps (and root sections) that are not canonical are rewritten; the rest of the file stays
byte for byte. The result is loaded again: what is returned always is a valid playbook.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from anew.languages.document import read_yaml
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode
from anew.languages.playbook.canonical import Writer, merged_workload
from anew.languages.playbook.canonical_policy import CannotTranslate
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.emit import (
    Block,
    Emitter,
    Key,
    Raw,
    RawItem,
    Rows,
    Source,
    dashed,
    find_comments,
)
from anew.languages.playbook.playbook import Loaded, load_playbook
from anew.languages.playbook.translating import Words
from anew.languages.rules import finding
from anew.program.findings import Finding, Severity
from anew.program.policy import PatchTarget
from anew.program.program import Dialect, Program, Step
from anew.program.span import Span


class Migrated(Struct, frozen=True):
    """`text` is None where the document has errors, so that nothing is written over it."""

    text: str | None
    findings: list[Finding]


class _Edit(Struct, frozen=True):
    start: int
    end: int
    text: str


def migrate(text: str | bytes, file: str) -> Migrated:
    """The playbook in canonical form, and what could not be kept."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    loaded = load_playbook(text, file)
    if loaded.program is None:
        errors = [found for found in loaded.findings if found.severity is Severity.ERROR]
        return Migrated(None, errors)
    if not loaded.strict:
        return Migrated(decoded, [])
    body = decoded.removeprefix("\ufeff")
    root, _ = read_yaml(body, file)
    if not isinstance(root, MapNode):
        return Migrated(decoded, loaded.findings)
    migration = _Migration(body, root, loaded, loaded.program)
    return _verified(migration.rewritten(), decoded, file, migration.findings)


def _verified(result: str, original: str, file: str, findings: list[Finding]) -> Migrated:
    again = load_playbook(result, file)
    if again.program is not None:
        return Migrated(result, findings)
    message = "the playbook could not be rewritten without breaking it; it was left as it is"
    first = next(f for f in again.findings if f.severity is Severity.ERROR)
    kept = finding("migrate.kept", Span(file, 1, 1), message, f"After rewriting: {first.message}")
    return Migrated(original, [*findings, kept])


class _Migration:
    def __init__(self, text: str, root: MapNode, loaded: Loaded, program: Program) -> None:
        self.text = text
        self.root = root
        self.program = program
        self.findings: list[Finding] = []
        self.source = Source(text, find_comments(text, _all_scalars(root)))
        self.emitter = Emitter(self.source)
        starts = [0]
        while (found := text.find("\n", starts[-1])) >= 0:
            starts.append(found + 1)
        self.line_starts = starts
        self.touched = sorted(self._offset(found.place) for found in loaded.strict)
        words = Words(_ctx_keys(program), frozenset(program.workload))
        self.writer = Writer(Compilation(root.span.file), words, self._is_touched)

    def _offset(self, place: Span) -> int:
        return self.line_starts[place.line - 1] + place.column - 1

    def _is_touched(self, place: Span, node: Node) -> bool:
        at = bisect_left(self.touched, self._offset(place))
        return at < len(self.touched) and self.touched[at] < max(node.end, node.begin + 1)

    # --- the document ----------------------------------------------------------------------------

    def rewritten(self) -> str:
        text = self.text
        edits = [self._whole()] if self.root.is_flow else list(self._edits())
        for edit in sorted(edits, key=lambda found: found.start, reverse=True):
            new = edit.text.replace("\n", "\r\n") if "\r\n" in text else edit.text
            text = text[: edit.start] + new + text[edit.end :]
        self._report_words()
        return text

    def _edits(self) -> Iterator[_Edit]:
        for entry in self.root:
            if entry.key == "workflow" and isinstance(entry.node, ListNode):
                yield from self._workflow_edits(entry, entry.node)
            elif entry.key == "vars":
                yield self._vars_edit(entry)
            elif self._is_changed_section(entry):
                yield self._entry_edit(entry, self._root_key(entry))

    def _is_changed_section(self, entry: Entry) -> bool:
        if entry.key == "workload":
            return "vars" in self.root
        return entry.key == "workbook" and self._is_touched(entry.place, entry.node)

    def _workflow_edits(self, entry: Entry, node: ListNode) -> Iterator[_Edit]:
        if node.is_flow:
            if self._is_touched(entry.place, node):
                yield self._entry_edit(entry, self._root_key(entry))
            return
        for item in node.items:
            if not self._is_touched(item.place, item.node):
                continue
            start = self._offset(item.place)
            indent = self.source.column(start)
            lines = self._step_lines(item, indent)
            end = self.source.end_of(item.node)
            yield _Edit(start, end, "\n".join(lines).lstrip(" "))

    def _step_lines(self, item: Item, indent: int) -> list[str]:
        start, end = self._offset(item.place), self.source.end_of(item.node)
        rows = self._step_row(item)
        if isinstance(rows, RawItem):
            return self.emitter.rows(Rows((rows,)), indent)
        # Comments above the dash are outside of what is replaced and stay where they are.
        outside = self.source.line_start(start)
        self.source.used.update(at for at in self.source.comments if at < outside)
        lines = dashed(self.emitter.block(rows, indent + 2), indent)
        left = self.source.take(start, end)
        return [*(" " * indent + comment for comment in left), *lines]

    def _step_row(self, item: Item) -> Block | RawItem:
        step = self._step_of(item)
        if step is None or not self._is_touched(item.place, item.node):
            return RawItem(item)
        try:
            return self.writer.step(item, step)
        except CannotTranslate as problem:
            place, message = problem.entry.place, f"{problem}; its step was left as it is"
            self.findings.append(finding("migrate.kept", place, message, problem.remedy))
            return RawItem(item)

    def _step_of(self, item: Item) -> Step | None:
        entry = item.node.get("step") if isinstance(item.node, MapNode) else None
        name = entry.node.text if entry is not None and isinstance(entry.node, ScalarNode) else ""
        return self.program.steps.get(name)

    # --- root sections ---------------------------------------------------------------------------

    def _entry_edit(self, entry: Entry, key: Key) -> _Edit:
        start = entry.name.begin
        indent = self.source.column(start)
        above = self.source.line_start(start)
        self.source.used.update(at for at in self.source.comments if at < above)
        lines = self.emitter.block(Block((key,)), indent)
        return _Edit(start, self.source.end_of(entry.node), "\n".join(lines).lstrip(" "))

    def _vars_edit(self, entry: Entry) -> _Edit:
        if "workload" not in self.root:
            return _Edit(entry.name.begin, entry.name.end, "workload")
        end = self.source.end_of(entry.node)
        start = self.source.line_start(entry.name.begin)
        return _Edit(start, min(self.source.line_end(end) + 1, len(self.text)), "")

    def _root_key(self, entry: Entry) -> Key:
        match entry.key:
            case "workflow" if isinstance(entry.node, ListNode):
                rows = Rows(tuple(self._step_row(item) for item in entry.node.items))
                return Key("workflow", rows, (entry,))
            case "workbook" if self._is_touched(entry.place, entry.node):
                dialects: dict[str, Dialect] = {
                    name: task.dialect for name, task in self.program.workbook.items()
                }
                return Key("workbook", self.writer.workbook(entry, dialects), (entry,))
            case "workload" if (extra := self.root.get("vars")) is not None:
                node = (
                    extra.node
                    if isinstance(extra.node, MapNode)
                    else MapNode({}, entry.place, 0, 0)
                )
                return Key("workload", merged_workload(entry, node), (entry,))
            case "vars":
                return Key("workload", Raw(entry), (entry,))
            case _:
                return Key(entry.key, Raw(entry), (entry,))

    def _whole(self) -> _Edit:
        """A document in braces has no lines to keep, so all of it is written anew."""
        skipped = "vars" if "workload" in self.root else ""
        keys = tuple(self._root_key(entry) for entry in self.root if entry.key != skipped)
        lines = self.emitter.block(Block(keys), 0)
        end = self.source.end_of(self.root)
        return _Edit(self.root.begin, end, "\n".join(lines))

    # --- what could not be kept ------------------------------------------------------------------

    def _report_words(self) -> None:
        for step in self.program.steps.values():
            for task in step.tasks:
                if task.dialect is Dialect.EVAL and _writes_status(task.policy.rules):
                    message = f"task {task.label!r} stores outcome.status: 'ok' now, not 'success'"
                    self.findings.append(finding("migrate.word", task.span, message))


def _writes_status(rules: tuple[object, ...]) -> bool:
    templates = [patch.value for rule in rules for patch in getattr(rule, "patches", ())]
    return any(("outcome", "status") in template.paths for template in templates)


def _ctx_keys(program: Program) -> frozenset[str]:
    """Every key of `ctx` that some rule or task sets."""
    found: set[str] = set()
    for step in program.steps.values():
        for task in step.tasks:
            groups = [task.policy.patches, *(rule.patches for rule in task.policy.rules)]
            exhausted = [getattr(rule.then, "on_exhausted", None) for rule in task.policy.rules]
            groups += [given.patches for given in exhausted if given is not None]
            found |= {
                p.path[0] for patches in groups for p in patches if p.target is PatchTarget.CTX
            }
    return frozenset(found)


def _all_scalars(node: Node) -> Iterator[ScalarNode]:
    match node:
        case ScalarNode():
            yield node
        case ListNode():
            for item in node.items:
                yield from _all_scalars(item.node)
        case MapNode():
            for entry in node:
                yield entry.name
                yield from _all_scalars(entry.node)
