"""Rewrite a playbook of any dialect to the canonical `policy` form.

Writes the canonical nodes that the document was compiled from, in the words of `policy`. Only steps
(and root sections) that are not canonical are rewritten; the rest of the file stays byte for byte.
The result is loaded again: what is returned always is a valid playbook.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, scalars
from anew.languages.playbook.comments import CommentedText, find_comments
from anew.languages.playbook.desugar.steps import step_name
from anew.languages.playbook.emit import Emitter, dashed
from anew.languages.playbook.playbook import CompiledPlaybook, compile_playbook, load_playbook
from anew.languages.playbook.rewording import (
    CannotTranslate,
    Rewording,
    reworded_step,
    reworded_task,
)
from anew.languages.rules import finding
from anew.program.findings import Finding, errors_in
from anew.program.policy import PatchTarget
from anew.program.program import Program
from anew.program.span import Span

_BYTE_ORDER_MARK = "\ufeff"


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
    compiled = compile_playbook(text, file)
    loaded = compiled.loaded
    if loaded.program is None:
        errors = errors_in(loaded.findings)
        return Migrated(None, errors)
    if not loaded.strict:
        return Migrated(decoded, [])
    body = decoded.removeprefix(_BYTE_ORDER_MARK)
    if "\n" not in body:
        body = body.replace("\r", "\n")  # what is written has lines as systems have them today
    if body != decoded:
        compiled = compile_playbook(body, file)  # for offsets that count from there
    migration = _Migration(body, compiled, loaded.program)
    return _verified(migration.rewritten(), decoded, file, migration.findings)


def _verified(result: str, original: str, file: str, findings: list[Finding]) -> Migrated:
    again = load_playbook(result, file)
    if again.program is not None:
        return Migrated(result, findings)
    message = "the playbook could not be rewritten without breaking it; it was left as it is"
    first = errors_in(again.findings)[0]
    kept = finding("migrate.kept", Span(file, 1, 1), message, f"After rewriting: {first.message}")
    return Migrated(original, [*findings, kept])


class _Migration:
    def __init__(self, text: str, compiled: CompiledPlaybook, program: Program) -> None:
        assert isinstance(compiled.written, MapNode)
        assert isinstance(compiled.canonical, MapNode)
        self.text = text
        self.root = compiled.written
        self.program = program
        self.findings: list[Finding] = []
        self.strict = compiled.loaded.strict
        self.source = CommentedText(text, find_comments(text, scalars(self.root, with_keys=True)))
        self.emitter = Emitter(self.source)
        self.words = Rewording(_ctx_keys(program))
        pairs = zip(self.root, compiled.canonical, strict=True)
        self.sections = [(old, self._section(old, new)) for old, new in pairs]

    # --- what is written -------------------------------------------------------------------------

    def _section(self, old: Entry, new: Entry) -> Entry:
        """A section of the document in its canonical form and words."""
        match new.key:
            case "workflow" if isinstance(old.node, ListNode) and isinstance(new.node, ListNode):
                pairs = zip(old.node.items, new.node.items, strict=True)
                steps = [self._step(before, after) for before, after in pairs]
                return made.renamed(new, new.key, made.with_items(old.node, steps))
            case "workbook" if isinstance(new.node, ListNode):
                return self._workbook(old, new, new.node)
            case _:
                return new

    def _step(self, old: Item, new: Item) -> Item:
        name = step_name(new)
        step = self.program.steps.get(name.text) if name is not None else None
        if step is None or (_has_own_words(old.node) and not self._is_older(old)):
            return old
        try:
            undo = self.program.steps.get(step.compensation or "")
            return reworded_step(self.words, new, step, undo)
        except CannotTranslate as problem:
            self._keep(problem, "step")
            return old

    def _is_older(self, step: Item) -> bool:
        """Whether anything in a step has a canonical form of its own."""
        start, end = self.source.offset(step.place), self.source.end_of(step.node)
        places = (found.place for found in self.strict)
        return any(start <= self.source.offset(place) < end for place in places)

    def _workbook(self, old: Entry, new: Entry, tasks: ListNode) -> Entry:
        try:
            items = [made.with_node(item, self._named_task(item.node)) for item in tasks.items]
        except CannotTranslate as problem:
            self._keep(problem, "workbook")
            return old
        found = made.with_items(tasks, items)
        return new if found is new.node else made.renamed(old, new.key, found)

    def _named_task(self, node: Node) -> MapNode:
        assert isinstance(node, MapNode)
        name = node.entries["name"].node
        assert isinstance(name, ScalarNode)
        dialect = self.program.workbook[name.text].dialect
        return made.with_entries(
            node,
            (
                made.renamed(e, "tool", reworded_task(self.words, e.node, dialect))
                if e.key == "tool"
                else e
                for e in node
            ),
        )

    def _keep(self, problem: CannotTranslate, what: str) -> None:
        message = f"{problem}; its {what} was left as it is"
        self.findings.append(finding("migrate.kept", problem.entry.place, message, problem.remedy))

    # --- where it is written ---------------------------------------------------------------------

    def rewritten(self) -> str:
        newline = "\r\n" if "\r\n" in self.text else "\n"
        edits = [self._whole()] if self.root.is_flow else list(self._edits())
        pieces, position = [], 0
        for edit in sorted(edits, key=lambda found: found.start):
            pieces += [self.text[position : edit.start], edit.text.replace("\n", newline)]
            position = edit.end
        return "".join([*pieces, self.text[position:]])

    def _edits(self) -> Iterator[_Edit]:
        for old, new in self.sections:
            if new is old:
                continue
            if new.node is old.node:
                yield _Edit(old.name.begin, old.name.end, new.key)
            elif old.key == "workflow" and isinstance(old.node, ListNode) and not old.node.is_flow:
                assert isinstance(new.node, ListNode)
                for before, after in zip(old.node.items, new.node.items, strict=True):
                    if after is not before:
                        yield self._step_edit(before, after)
            else:
                yield self._entry_edit(old, new)

    def _step_edit(self, old: Item, new: Item) -> _Edit:
        start, end = self.source.offset(old.place), self.source.end_of(old.node)
        indent = self.source.column(start)
        # Comments above the dash are outside of what is replaced and stay where they are.
        self.source.above(start)
        assert isinstance(new.node, MapNode)
        lines = dashed(self.emitter.block(new.node, indent + 2), indent)
        left = [" " * indent + comment for comment in self.source.take(start, end)]
        return _Edit(start, end, "\n".join([*left, *lines]).lstrip(" "))

    def _entry_edit(self, old: Entry, new: Entry) -> _Edit:
        start = old.name.begin
        indent = self.source.column(start)
        for origin in new.origins:  # what stands above them is not replaced
            self.source.above(origin.name.begin)
        lines = self.emitter.block([new], indent)
        return _Edit(start, self.source.end_of(old.node), "\n".join(lines).lstrip(" "))

    def _whole(self) -> _Edit:
        """A document in braces has no lines to keep, so all of it is written anew."""
        lines = self.emitter.block((new for _, new in self.sections), 0)
        end = self.source.end_of(self.root)
        return _Edit(self.root.begin, end, "\n".join(lines))


def _has_own_words(node: Node) -> bool:
    """Whether a step has words that stand for rules or tasks, and are no older form."""
    match node:
        case MapNode():
            return any(e.key in ("paginate", "poll") or _has_own_words(e.node) for e in node)
        case ListNode():
            return any(_has_own_words(item.node) for item in node.items)
        case ScalarNode():
            return False


def _ctx_keys(program: Program) -> frozenset[str]:
    """Every key of `ctx` that is there at first, or that some rule, task, step or arc sets."""
    source = program.ctx.source if program.ctx is not None else None
    at_first = source if isinstance(source, dict) else {}
    written = (patch.path[0] for patch in program.patches if patch.target is PatchTarget.CTX)
    return frozenset([*at_first, *written])
