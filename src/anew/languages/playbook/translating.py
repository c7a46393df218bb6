"""Take over values whose expressions may have to change their words."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.emit import Block, Key, Out, Raw, scalar
from anew.languages.playbook.translate import Translator, eval_words, output_words, translate
from anew.program.program import Dialect, Step
from anew.values import Value

_CONDITIONS = ("when", "expr")


class Words(Struct, frozen=True):
    """How expressions at one place have to be translated; by default not at all."""

    ctx_keys: frozenset[str]
    workload: frozenset[str]
    translator: Translator | None = None

    @property
    def speaks(self) -> bool:
        """Whether anything may change."""
        return self.translator is not None

    def for_step(self, step: Step) -> Words:
        return self.for_task(step.dialect)

    def for_task(self, dialect: Dialect) -> Words:
        match dialect:
            case Dialect.EVAL:
                return replace(self, translator=eval_words)
            case Dialect.OUTPUT:
                return replace(self, translator=output_words(self.ctx_keys, self.workload))
            case Dialect.POLICY | Dialect.RETRY:
                return replace(self, translator=None)

    def value(self, entry: Entry, verbatim: frozenset[str] = frozenset()) -> Out:
        """An entry's value, as written where no expression in it changes."""
        if (
            self.translator is None
            or entry.key in verbatim
            or not self._changes(entry.key, entry.node)
        ):
            return Raw(entry)
        if isinstance(entry.node, MapNode):
            return Block(tuple(Key(inner.key, self.value(inner), (inner,)) for inner in entry.node))
        return scalar(self._translated(entry.key, entry.node))

    def condition(self, entry: Entry) -> Out:
        return self.value(replace(entry, key="when"))

    def text(self, key: str, text: str) -> str:
        """A text with its expressions translated."""
        if self.translator is None:
            return text
        return translate(text, self.translator, is_condition=key in _CONDITIONS)

    def _changes(self, key: str, node: Node) -> bool:
        match node:
            case ScalarNode():
                return isinstance(node.value, str) and self.text(key, node.value) != node.value
            case ListNode():
                return any(self._changes("", item.node) for item in node.items)
            case MapNode():
                return any(self._changes(inner.key, inner.node) for inner in node)

    def _translated(self, key: str, node: Node) -> Value:
        match node:
            case ScalarNode():
                return self.text(key, node.value) if isinstance(node.value, str) else plain(node)
            case ListNode():
                return [self._translated("", item.node) for item in node.items]
            case MapNode():
                return {inner.key: self._translated(inner.key, inner.node) for inner in node}
