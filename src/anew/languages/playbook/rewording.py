"""Say what canonical nodes of an older dialect mean in the words of `policy`.

Nodes in which no expression changes stay the same objects. A rule of a retry block asks for its
status itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from anew.expressions import DEFAULT_LIMITS, ExpressionError
from anew.expressions.rendering import is_bare_word, is_true_word
from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.desugar.canonical import LabelNode, RuleNode
from anew.languages.playbook.dialect_words import (
    both_words,
    ctx_words,
    eval_words,
    no_retry_words,
    output_words,
    retry_words,
    set_words,
    unchanged_words,
)
from anew.languages.playbook.keys import PATCH_KEYS, TASK_SET_KEYS
from anew.languages.playbook.patches import SET_NAMES, has_dotted_keys, patch_target
from anew.languages.playbook.translate import (
    Translator,
    Untranslatable,
    as_operand,
    inner_expression,
    one_line,
    translate,
)
from anew.program.kinds import KINDS
from anew.program.policy import PatchTarget
from anew.program.program import Dialect, Step
from anew.program.span import Span

_NEVER_RENDERED = frozenset({"kind", "desc", "description"})
_PLAIN_PATCHES = ("set_ctx", "set_iter")
_NODE_ID = re.compile(r"\bnode_id\b")
_NAME = re.compile(r"[^\W\d]\w*")
_Patches = dict[PatchTarget, dict[str, Entry]]


class CannotTranslate(Exception):
    """Something has no canonical form with the same meaning; what holds it stays as it is."""

    def __init__(self, entry: Entry, why: str, remedy: str) -> None:
        super().__init__(f"`{entry.name.text}` {why}, which has no canonical form")
        self.entry = entry
        self.remedy = remedy


class Rewording(Struct, frozen=True):
    """How expressions at one place have to be translated; by default not at all."""

    ctx_keys: frozenset[str]
    translator: Translator | None = None

    def for_rules(self, dialect: Dialect) -> Rewording:
        """For what a task of this dialect says of its outcome."""
        match dialect:
            case Dialect.EVAL:
                return replace(self, translator=eval_words)
            case Dialect.OUTPUT:
                return replace(self, translator=both_words(output_words, self._ctx_words))
            case Dialect.RETRY:
                return replace(self, translator=no_retry_words)
            case Dialect.POLICY:
                return replace(self, translator=None)

    def for_inputs(self, dialect: Dialect) -> Rewording:
        """For what a task of this dialect gives its tool, where there is no outcome yet."""
        if dialect in (Dialect.EVAL, Dialect.RETRY):
            return replace(self, translator=unchanged_words)
        return self.for_rules(dialect)

    def for_set(self, dialect: Dialect) -> Rewording:
        """For what a task of this dialect writes with every outcome."""
        own = self._ctx_words if dialect is Dialect.OUTPUT else self.for_rules(dialect).translator
        return replace(self, translator=set_words(own))

    def for_visits(self, dialect: Dialect) -> Rewording:
        """For what a step of this dialect says of its visits: arcs, its `set`, gate and loop."""
        is_output = dialect is Dialect.OUTPUT
        return replace(self, translator=self._ctx_words if is_output else None)

    @property
    def _ctx_words(self) -> Translator:
        return ctx_words(self.ctx_keys)

    def value(self, entry: Entry, verbatim: frozenset[str] = frozenset()) -> Entry:
        """An entry with the expressions in its value translated."""
        if self.translator is None or entry.key in verbatim or entry.key in _NEVER_RENDERED:
            return entry
        translator = self.translator
        try:
            node = made.rewritten(entry.node, lambda node, _: _text(node, translator))
            return made.renamed(entry, entry.key, node)
        except Untranslatable as problem:
            raise CannotTranslate(entry, str(problem), problem.remedy) from problem

    def condition(self, entry: Entry) -> Entry:
        """A condition, which needs no braces; on one line where it changes."""
        node = entry.node
        if self.translator is None or not isinstance(node, ScalarNode):
            return entry
        try:
            found = _text(node, self.translator, is_condition=True)
        except Untranslatable as problem:
            raise CannotTranslate(entry, str(problem), problem.remedy) from problem
        if found is node:
            return entry
        return made.renamed(entry, entry.key, made.scalar(one_line(str(plain(found))), node.span))


def _text(node: ScalarNode, translator: Translator, *, is_condition: bool = False) -> ScalarNode:
    if not isinstance(node.value, str):
        return node
    text = translate(node.value, translator, is_condition=is_condition)
    return node if text == node.value else made.scalar(text, node.span)


# --- steps ---------------------------------------------------------------------------------------


def reworded_step(words: Rewording, item: Item, step: Step, undo: Step | None) -> Item:
    """A canonical step in the words of `policy`; `undo` is what its `compensate` became."""
    node, own = item.node, words.for_visits(step.dialect)
    assert isinstance(node, MapNode)

    def reword(entry: Entry) -> Entry:
        match entry.key:
            case "tool":
                return made.renamed(entry, "tool", _tool(words, entry.node, step))
            case "compensate" if undo is not None:
                return made.renamed(entry, "compensate", _tool(words, entry.node, undo))
            case "args":
                return _args(words, entry, step)
            case "loop":
                return _each(entry, own.value)
            case "next":
                return _below(entry, "arcs", lambda arc: _each_of(arc, _arc_words(own)))
            case "spec":
                return _admission(own, entry)
            case "set":
                return own.value(entry)
            case _:
                return entry

    return made.with_node(item, made.with_entries(node, map(reword, node)))


def _arc_words(words: Rewording) -> Callable[[Entry], Entry]:
    return lambda e: words.condition(e) if e.key == "when" else words.value(e)


def _admission(words: Rewording, spec: Entry) -> Entry:
    """The conditions of admission rules, which are all that a step's `spec` asks."""

    def rule(node: Node) -> Node:
        return _each_of(node, lambda e: words.condition(e) if e.key == "when" else e)

    def inside(key: str, then: Callable[[Entry], Entry]) -> Callable[[Entry], Entry]:
        return lambda entry: _each(entry, lambda e: then(e) if e.key == key else e)

    return inside("policy", inside("admit", lambda admit: _below(admit, "rules", rule)))(spec)


def _each(entry: Entry, reword: Callable[[Entry], Entry]) -> Entry:
    """The entries of a mapping, each reworded."""
    return made.renamed(entry, entry.key, _each_of(entry.node, reword))


def _each_of(node: Node, reword: Callable[[Entry], Entry]) -> Node:
    return made.with_entries(node, map(reword, node)) if isinstance(node, MapNode) else node


def _below(entry: Entry, key: str, change: Callable[[Node], Node]) -> Entry:
    """The elements of the list under a key of a mapping, each reworded."""

    def reword(found: Entry) -> Entry:
        if found.key != key or not isinstance(found.node, ListNode):
            return found
        items = (made.with_node(item, change(item.node)) for item in found.node.items)
        return made.renamed(found, key, made.with_items(found.node, items))

    return _each(entry, reword)


def _args(words: Rewording, entry: Entry, step: Step) -> Entry:
    """The step's own arguments, which each task reads in its own dialect."""
    found = [words.for_inputs(task.dialect).value(entry) for task in step.tasks]
    if any(plain(value.node) != plain(found[0].node) for value in found):
        why = "is read by tasks of several dialects"
        raise CannotTranslate(entry, why, "Give each task its own `args`.")
    return found[0]


def _tool(words: Rewording, node: Node, step: Step) -> Node:
    if isinstance(node, MapNode):
        return reworded_task(words, node, step.tasks[0].dialect)
    assert isinstance(node, ListNode)
    items = []
    for item, task in zip(node.items, step.tasks, strict=True):

        def reword(entry: Entry, dialect: Dialect = task.dialect) -> Entry:
            return made.renamed(entry, entry.key, reworded_task(words, entry.node, dialect))

        items.append(made.with_node(item, _each_of(item.node, reword)))
    return made.with_items(node, items)


# --- tasks ---------------------------------------------------------------------------------------


def reworded_task(words: Rewording, node: Node, dialect: Dialect) -> Node:
    """A canonical task in the words of `policy`."""
    assert isinstance(node, MapNode)
    rules, inputs = words.for_rules(dialect), words.for_inputs(dialect)
    kind = KINDS.get(str(plain(node.entries["kind"].node)))
    verbatim = kind.verbatim if kind is not None else frozenset()
    entries = []
    for entry in node:
        if isinstance(entry.node, LabelNode):
            _check_label(entry, entry.node)
        if entry.key == "spec":
            entries.append(_spec(rules, entry))
        elif entry.key not in TASK_SET_KEYS:
            entries.append(inputs.value(entry, verbatim))
    entries += _sets(words.for_set(dialect), node)
    is_same = len(entries) == len(node.entries) and all(node.get(e.key) is e for e in entries)
    return node if is_same else made.mapping(_kind_first(entries), node.span)


def _sets(words: Rewording, task: MapNode) -> list[Entry]:
    """What the task writes with every outcome."""
    given = [entry for entry in task if entry.key in TASK_SET_KEYS]
    if not any(entry.key == "set" and has_dotted_keys(entry.node) for entry in given):
        return [words.value(entry) for entry in given]
    return list(_written(_patches(words, given, PatchTarget.LOCAL), given[0].place, *given))


def _kind_first(entries: list[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.key != "kind")


def _check_label(entry: Entry, node: LabelNode) -> None:
    if not _NAME.fullmatch(node.label):
        why = f"follows the task {node.label!r}, whose result no template can name"
        remedy = "Give the step a name of letters, digits and `_`."
        raise CannotTranslate(entry.origins[0], why, remedy)


def _spec(words: Rewording, spec: Entry) -> Entry:
    spec = _each(spec, lambda entry: words.value(entry) if entry.key == "backoff" else entry)
    inner = spec.node if isinstance(spec.node, MapNode) else None
    policy = inner.get("policy") if inner is not None else None
    if inner is None or policy is None:
        return spec
    reworded = _policy(words, policy)
    if reworded is policy:
        return spec
    others = (entry for entry in inner if entry is not policy)
    return made.renamed(spec, "spec", made.mapping([*others, reworded], inner.span))


def _policy(words: Rewording, policy: Entry) -> Entry:
    rules = policy.node.get("rules") if isinstance(policy.node, MapNode) else None
    if not isinstance(policy.node, MapNode) or rules is None:
        return policy
    assert isinstance(rules.node, ListNode)
    built = [_rule(words, item) for item in rules.node.items]
    unmatched = policy.node.get("on_unmatched")
    has_else = any(isinstance(item.node, MapNode) and "else" in item.node for item in built)
    # Nobody wrote it, and where every outcome meets a rule it says nothing.
    is_idle = unmatched is not None and unmatched.name.is_made and has_else
    kept = [e for e in policy.node if e is not rules and not (is_idle and e is unmatched)]
    reworded = made.renamed(rules, "rules", made.with_items(rules.node, built))
    if reworded is rules and not is_idle:
        return policy
    return made.renamed(policy, "policy", made.mapping([*kept, reworded], policy.node.span))


# --- rules ---------------------------------------------------------------------------------------


def _rule(words: Rewording, item: Item) -> Item:
    node = item.node
    assert isinstance(node, MapNode)
    if isinstance(node, RuleNode) and node.on is not None:
        then = _does(words, node.entries["then"])
        return Item(item.place, made.mapping([_status(node, item.place), then], item.place))

    def reword(entry: Entry) -> Entry:
        match entry.key:
            case "when":
                return words.condition(entry)
            case "then":
                return _does(words, entry)
            case "else":
                return _each(entry, reword)
            case _:
                return entry

    return made.with_node(item, made.with_entries(node, map(reword, node)))


def _does(words: Rewording, holder: Entry) -> Entry:
    """A directive with its settings, and what is written before it."""
    node = holder.node
    if not isinstance(node, MapNode):
        return holder
    is_plain = all(k in _PLAIN_PATCHES for k in node.entries if k in PATCH_KEYS)
    entries = []
    for key, entry in node.entries.items():
        if key == "on_exhausted":
            entries.append(_does(words, entry))
        elif key not in PATCH_KEYS or is_plain:
            entries.append(words.value(entry))
    if is_plain:
        return made.renamed(holder, holder.key, made.with_entries(node, entries))
    own = _patches(words, [entry for key, entry in node.entries.items() if key in PATCH_KEYS])
    inner = made.mapping([*entries, *_written(own, node.span)], node.span)
    return made.renamed(holder, holder.key, inner)


def _written(patches: _Patches, place: Span, *origins: Entry) -> Iterator[Entry]:
    for target, name in SET_NAMES.items():
        if target in patches:
            values = made.mapping(patches[target].values(), place)
            yield made.entry(name, values, place, *origins)


def _patches(
    words: Rewording, entries: list[Entry], bare: PatchTarget = PatchTarget.CTX
) -> _Patches:
    found: _Patches = {}
    for entry in entries:
        for item in entry.node if isinstance(entry.node, MapNode) else ():
            target, path = patch_target(entry.key, item.key, bare)
            if len(path) > 1 and target is not PatchTarget.LOCAL:
                raise CannotTranslate(item, "writes inside a value", "Set the whole value.")
            name = ".".join(path)
            found.setdefault(target, {})[name] = made.renamed(words.value(item), name)
    return found


# --- conditions of retry blocks ------------------------------------------------------------------


def _status(rule: RuleNode, place: Span) -> Entry:
    """What a rule of a retry block asks, in one expression."""
    asked = rule.get("when")
    also = "" if asked is None else f" and {_operand(asked)}"
    when = made.scalar(f"{{{{ outcome.status == '{rule.on}'{also} }}}}", place)
    return made.entry("when", when, place, *(() if asked is None else (asked,)))


def _operand(entry: Entry) -> str:
    """A retry condition as an expression that is true exactly where the block's words are."""
    node = entry.node
    assert isinstance(node, ScalarNode)
    text = node.value if isinstance(node.value, str) else node.text.lower()
    expression = _bare(text) or inner_expression(text)
    if expression is None:
        raise _around(entry)
    if _NODE_ID.search(expression):
        raise CannotTranslate(entry, "reads `node_id`", "Compare with the step's name instead.")
    try:
        return as_operand(one_line(translate(expression, retry_words, is_condition=True)))
    except Untranslatable as problem:
        raise CannotTranslate(entry, str(problem), problem.remedy) from problem
    except ExpressionError as error:
        raise _around(entry) from error


def _bare(text: str) -> str | None:
    """A condition that is one of the block's words, or nothing at all."""
    if text.strip() and not is_bare_word(text):
        return None
    return "true" if is_true_word(text, DEFAULT_LIMITS) else "false"


def _around(entry: Entry) -> CannotTranslate:
    return CannotTranslate(entry, "is a text around an expression", "Write one expression.")
