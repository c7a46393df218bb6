"""Rewrite a playbook of any dialect to the canonical `policy` form.

Only steps (and root sections) that are not canonical are rewritten; the rest of the file stays
byte for byte. The result is loaded again: what is returned always is a valid playbook.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from anew.languages.document import read_yaml
from anew.languages.loaded import Loaded
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode
from anew.languages.playbook.canonical import Writer, keychain_rows, merged_workload
from anew.languages.playbook.comments import Source, find_comments
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.emit import (
    Block,
    Emitter,
    Key,
    Out,
    Raw,
    RawItem,
    Rows,
    dashed,
)
from anew.languages.playbook.playbook import load_playbook
from anew.languages.playbook.translating import CannotTranslate, Words
from anew.languages.playbook.workload import workload_templates
from anew.languages.rules import finding
from anew.program.findings import Finding, Severity
from anew.program.policy import PatchTarget
from anew.program.program import Program, Step
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
        words = Words(_ctx_keys(program))
        self.writer = Writer(Compilation(root.span.file), words, self._is_touched)
        self.moves_vars = self._can_move_vars()

    def _offset(self, place: Span) -> int:
        return self.line_starts[place.line - 1] + place.column - 1

    def _is_touched(self, place: Span, node: Node) -> bool:
        at = bisect_left(self.touched, self._offset(place))
        return at < len(self.touched) and self.touched[at] < max(node.end, node.begin + 1)

    # --- the document ----------------------------------------------------------------------------

    def rewritten(self) -> str:
        newline = "\r\n" if "\r\n" in self.text else "\n"
        edits = [self._whole()] if self.root.is_flow else list(self._edits())
        pieces, position = [], 0
        for edit in sorted(edits, key=lambda found: found.start):
            pieces += [self.text[position : edit.start], edit.text.replace("\n", newline)]
            position = edit.end
        return "".join([*pieces, self.text[position:]])

    def _edits(self) -> Iterator[_Edit]:
        for entry in self.root:
            if entry.key == "workflow" and isinstance(entry.node, ListNode):
                yield from self._workflow_edits(entry, entry.node)
            elif entry.key == "vars" and self.moves_vars:
                yield self._vars_edit(entry)
            elif self._is_changed_section(entry):
                yield self._entry_edit(entry, self._root_key(entry))

    def _is_changed_section(self, entry: Entry) -> bool:
        if entry.key == "workload":
            return self.moves_vars
        is_listed = entry.key in ("workbook", "keychain")
        return is_listed and self._is_touched(entry.place, entry.node)

    def _workflow_edits(self, entry: Entry, node: ListNode) -> Iterator[_Edit]:
        if node.is_flow:
            if self._is_touched(entry.place, node):
                yield self._entry_edit(entry, self._root_key(entry))
            return
        for item in node.items:
            row = self._step_row(item)
            if isinstance(row, Block):
                yield self._step_edit(item, row)

    def _step_edit(self, item: Item, block: Block) -> _Edit:
        start, end = self._offset(item.place), self.source.end_of(item.node)
        indent = self.source.column(start)
        # Comments above the dash are outside of what is replaced and stay where they are.
        self.source.above(start)
        lines = dashed(self.emitter.block(block, indent + 2), indent)
        left = [" " * indent + comment for comment in self.source.take(start, end)]
        return _Edit(start, end, "\n".join([*left, *lines]).lstrip(" "))

    def _step_row(self, item: Item) -> Block | RawItem:
        step = self._step_of(item)
        if step is None or not self._is_touched(item.place, item.node):
            return RawItem(item)
        try:
            return self.writer.step(item, step)
        except CannotTranslate as problem:
            self._keep(problem, "step")
            return RawItem(item)

    def _keep(self, problem: CannotTranslate, what: str) -> None:
        message = f"{problem}; its {what} was left as it is"
        self.findings.append(finding("migrate.kept", problem.entry.place, message, problem.remedy))

    def _step_of(self, item: Item) -> Step | None:
        entry = item.node.get("step") if isinstance(item.node, MapNode) else None
        name = entry.node.text if entry is not None and isinstance(entry.node, ScalarNode) else ""
        return self.program.steps.get(name)

    # --- root sections ---------------------------------------------------------------------------

    def _entry_edit(self, entry: Entry, key: Key) -> _Edit:
        start = entry.name.begin
        indent = self.source.column(start)
        for origin in key.origins:  # what stands above them is not replaced
            self.source.above(origin.name.begin)
        lines = self.emitter.block(Block((key,)), indent)
        return _Edit(start, self.source.end_of(entry.node), "\n".join(lines).lstrip(" "))

    def _vars_edit(self, entry: Entry) -> _Edit:
        if "workload" not in self.root:
            return _Edit(entry.name.begin, entry.name.end, "workload")
        end = self.source.end_of(entry.node)
        start = self.source.line_start(entry.name.begin)
        return _Edit(start, min(self.source.line_end(end) + 1, len(self.text)), "")

    def _root_key(self, entry: Entry) -> Key:
        name = "workload" if entry.key == "vars" and self.moves_vars else entry.key
        joins_vars = entry.key == "workload" and self.moves_vars
        origins = (entry, self.root.entries["vars"]) if joins_vars else (entry,)
        return Key(name, self._root_value(entry), origins)

    def _root_value(self, entry: Entry) -> Out:
        is_touched = self._is_touched(entry.place, entry.node)
        match entry.key:
            case "workflow" if isinstance(entry.node, ListNode):
                return Rows(tuple(self._step_row(item) for item in entry.node.items))
            case "workbook" if is_touched:
                return self._workbook(entry)
            case "keychain" if is_touched and isinstance(entry.node, MapNode):
                return keychain_rows(entry.node)
            case "workload" if self.moves_vars:
                return merged_workload(entry.node, self.root.entries["vars"].node)
            case _:
                return Raw(entry)

    def _workbook(self, entry: Entry) -> Out:
        dialects = {name: task.dialect for name, task in self.program.workbook.items()}
        try:
            return self.writer.workbook(entry, dialects)
        except CannotTranslate as problem:
            self._keep(problem, "workbook")
            return Raw(entry)

    def _can_move_vars(self) -> bool:
        """Whether root `vars` mean the same below `workload`, where a run's own id is rendered."""
        entry = self.root.get("vars")
        if entry is None:
            return False
        rendered = workload_templates(entry.node) if isinstance(entry.node, MapNode) else {}
        if rendered:
            why = f"holds `{'.'.join(str(part) for part in next(iter(rendered)))}`, a template"
            self._keep(CannotTranslate(entry, why, "Write the text in another way."), "section")
        return not rendered

    def _whole(self) -> _Edit:
        """A document in braces has no lines to keep, so all of it is written anew."""
        skipped = "vars" if "workload" in self.root and self.moves_vars else ""
        keys = tuple(self._root_key(entry) for entry in self.root if entry.key != skipped)
        lines = self.emitter.block(Block(keys), 0)
        end = self.source.end_of(self.root)
        return _Edit(self.root.begin, end, "\n".join(lines))


def _ctx_keys(program: Program) -> frozenset[str]:
    """Every key of `ctx` that some rule or task sets."""
    found: set[str] = set()
    tasks = [task for step in program.steps.values() for task in step.tasks]
    for task in [*tasks, *program.workbook.values()]:
        groups = [task.policy.patches, *(rule.patches for rule in task.policy.rules)]
        exhausted = [getattr(rule.then, "on_exhausted", None) for rule in task.policy.rules]
        groups += [given.patches for given in exhausted if given is not None]
        found |= {p.path[0] for patches in groups for p in patches if p.target is PatchTarget.CTX}
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
