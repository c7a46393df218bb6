"""Take over values whose expressions may have to change their words."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.dialect_words import (
    eval_words,
    no_retry_words,
    output_words,
    unchanged_words,
)
from anew.languages.playbook.emit import (
    Block,
    Inline,
    Key,
    Out,
    Raw,
    RawItem,
    Rows,
    scalar,
    written,
)
from anew.languages.playbook.translate import Translator, Untranslatable, one_line, translate
from anew.program.program import Dialect, Step
from anew.values import Value

_NEVER_RENDERED = frozenset({"desc", "description"})


class CannotTranslate(Exception):
    """Something has no canonical form with the same meaning; what holds it stays as it is."""

    def __init__(self, entry: Entry, why: str, remedy: str) -> None:
        super().__init__(f"`{entry.key}` {why}, which has no canonical form")
        self.entry = entry
        self.remedy = remedy


class Words(Struct, frozen=True):
    """How expressions at one place have to be translated; by default not at all."""

    ctx_keys: frozenset[str]
    translator: Translator | None = None

    @property
    def speaks(self) -> bool:
        """Whether anything may change."""
        return self.translator is not None

    def for_step(self, step: Step) -> Words:
        return self.for_rules(step.dialect)

    def for_rules(self, dialect: Dialect) -> Words:
        """For what a task of this dialect says of its outcome."""
        match dialect:
            case Dialect.EVAL:
                return replace(self, translator=eval_words)
            case Dialect.OUTPUT:
                return replace(self, translator=output_words(self.ctx_keys))
            case Dialect.RETRY:
                return replace(self, translator=no_retry_words)
            case Dialect.POLICY:
                return replace(self, translator=None)

    def for_inputs(self, dialect: Dialect) -> Words:
        """For what a task of this dialect gives its tool, where there is no outcome yet."""
        if dialect in (Dialect.EVAL, Dialect.RETRY):
            return replace(self, translator=unchanged_words)
        return self.for_rules(dialect)

    def value(self, entry: Entry, verbatim: frozenset[str] = frozenset()) -> Out:
        """An entry's value, as written where no expression in it changes."""
        if self.translator is None or entry.key in verbatim or entry.key in _NEVER_RENDERED:
            return Raw(entry)
        try:
            return self._value(entry)
        except Untranslatable as problem:
            raise CannotTranslate(entry, str(problem), problem.remedy) from problem

    def condition(self, entry: Entry) -> Out:
        """A condition, which needs no braces; on one line where it changes."""
        node = entry.node
        if self.translator is None or not isinstance(node, ScalarNode):
            return Raw(entry)
        try:
            text = self._text(node, is_condition=True)
        except Untranslatable as problem:
            raise CannotTranslate(entry, str(problem), problem.remedy) from problem
        return Raw(entry) if text == plain(node) else written(one_line(str(text)))

    def _value(self, entry: Entry) -> Out:
        if not self._changes(entry.node):
            return Raw(entry)
        match entry.node:
            case MapNode():
                return Block(self._keys(entry.node))
            case ListNode():
                return Rows(tuple(self._row(item) for item in entry.node.items))
            case ScalarNode():
                return written(self._text(entry.node))

    def _keys(self, node: MapNode) -> tuple[Key, ...]:
        return tuple(Key(inner.key, self._value(inner), (inner,)) for inner in node)

    def _row(self, item: Item) -> Block | Inline | RawItem:
        if not self._changes(item.node):
            return RawItem(item)
        if isinstance(item.node, MapNode):
            return Block(self._keys(item.node), item)
        return scalar(self._translated(item.node))

    def _text(self, node: ScalarNode, *, is_condition: bool = False) -> Value:
        """A scalar with its expressions translated."""
        if self.translator is None or not isinstance(node.value, str):
            return plain(node)
        return translate(node.value, self.translator, is_condition=is_condition)

    def _changes(self, node: Node) -> bool:
        return bool(self._translated(node) != plain(node))

    def _translated(self, node: Node) -> Value:
        match node:
            case ScalarNode():
                return self._text(node)
            case ListNode():
                return [self._translated(item.node) for item in node.items]
            case MapNode():
                return {inner.key: self._translated(inner.node) for inner in node}
