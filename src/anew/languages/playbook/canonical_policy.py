"""Build `spec.policy` from a retry block, from `eval`, and from rules in other forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from anew.expressions import ExpressionError
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.dialect_words import retry_words
from anew.languages.playbook.emit import Block, Inline, Key, Raw, Rows, scalar
from anew.languages.playbook.forms import TaskForm
from anew.languages.playbook.patches import PATCH_KEYS, patch_target
from anew.languages.playbook.policies import RuleShape, rule_shape
from anew.languages.playbook.translate import (
    Untranslatable,
    as_operand,
    inner_expression,
    one_line,
    translate,
)
from anew.languages.playbook.translating import CannotTranslate, Words
from anew.program.policy import PatchTarget
from anew.program.program import Dialect

_FAIL_ON_ERROR = "\"{{ outcome.status == 'error' }}\""
_PLAIN_PATCHES = ("set_ctx", "set_iter")
_SET_NAMES = {PatchTarget.CTX: "set_ctx", PatchTarget.ITER: "set_iter"}
# What a rule may say of itself; it has no effect.
_ABOUT = ("name", "desc", "description")
_NODE_ID = re.compile(r"\bnode_id\b")
_Patches = dict[PatchTarget, dict[str, Key]]


class PolicyWriter(Struct, frozen=True):
    """`words` translate the rules' expressions."""

    c: Compilation
    dialect: Dialect
    words: Words


def policy_block(w: PolicyWriter, form: TaskForm) -> Key | None:
    """The `policy` of a task, or None when the defaults are meant."""
    patches = _patches(w, [form.fields["set"]]) if "set" in form.fields else {}
    retry, evaluation = form.fields.get("retry"), form.fields.get("eval")
    given = _given_policy(form)
    if retry is not None:
        rules, origin = list(_retry_rules(w, retry, patches)), retry
    elif evaluation is not None:
        rules, origin = _rules(w, evaluation.node, patches), evaluation
    elif given is not None:
        return _rewritten(w, given, patches)
    else:
        rules = []
    if not rules:
        return _patched_defaults(form, patches)
    keys: list[Key] = []
    if patches and not _has_else(rules):
        rules += _defaults(patches, fails=True)
    elif not _has_else(rules):
        keys.append(Key("on_unmatched", Inline("fail")))
    keys.append(Key("rules", Rows(tuple(rules))))
    return Key("policy", Block(tuple(keys)), (origin,))


def _given_policy(form: TaskForm) -> Entry | None:
    spec = form.fields.get("spec")
    return spec.node.get("policy") if spec is not None and isinstance(spec.node, MapNode) else None


def _rewritten(w: PolicyWriter, entry: Entry, patches: _Patches) -> Key:
    node = entry.node
    rules = node.get("rules") if isinstance(node, MapNode) else None
    if not isinstance(node, MapNode) or rules is None:
        return Key("policy", Raw(entry), (entry,))
    built = _rules(w, rules.node, patches)
    unmatched = node.get("on_unmatched")
    if patches and not _has_else(built):
        fails = unmatched is not None and plain(unmatched.node) == "fail"
        built += _defaults(patches, fails=fails)
    keys = [Key(e.key, Raw(e), (e,)) for e in node if e is not rules]
    written = Key("rules", Rows(tuple(built)), (rules,))
    return Key("policy", Block((*keys, written)), (entry,))


def _has_else(rules: list[Block]) -> bool:
    return any(key.name == "else" for rule in rules for key in rule.keys)


def _patched_defaults(form: TaskForm, patches: _Patches) -> Key | None:
    if not patches:
        return None
    rules = Rows(tuple(_defaults(patches, fails=True)))
    return Key("policy", Block((Key("rules", rules),)), (form.fields["set"],))


def _defaults(patches: _Patches, *, fails: bool) -> Iterator[Block]:
    """What happens to outcomes no rule matches, with the task's own patches."""
    if fails:
        then = Key("then", _with_patches([Key("do", Inline("fail"))], patches))
        yield Block((Key("when", Inline(_FAIL_ON_ERROR)), then))
    then = Key("then", _with_patches([Key("do", Inline("continue"))], patches))
    yield Block((Key("else", Block((then,))),))


# --- rules ---------------------------------------------------------------------------------------


def _rules(w: PolicyWriter, node: Node, patches: _Patches) -> list[Block]:
    built = []
    for item in node.items if isinstance(node, ListNode) else ():
        shape = rule_shape(w.c, item, w.dialect)
        if shape is not None:
            built.append(_rule(w, item, shape, patches))
    return built


def _rule(w: PolicyWriter, item: Item, shape: RuleShape, patches: _Patches) -> Block:
    assert isinstance(item.node, MapNode)
    about = [Key(e.key, Raw(e), (e,)) for e in item.node if e.key in _ABOUT]
    otherwise = item.node.get("else")
    inner = otherwise.node if otherwise is not None else item.node
    holder = inner.get("then") if isinstance(inner, MapNode) else None
    then = Key("then", _then(w, shape.does, patches), _origins(holder))
    if shape.when is not None:
        asks = Key("when", w.words.condition(shape.when), (shape.when,))
        return Block((*about, asks, then), item)
    return Block((*about, Key("else", Block((then,)), _origins(otherwise))), item)


def _origins(entry: Entry | None) -> tuple[Entry, ...]:
    return () if entry is None else (entry,)


def _then(w: PolicyWriter, does: Mapping[str, Entry], patches: _Patches) -> Block:
    keys = [] if "do" in does else [Key("do", Inline("continue"))]
    is_plain = not patches and all(k in _PLAIN_PATCHES for k in does if k in PATCH_KEYS)
    for key, entry in does.items():
        if key == "on_exhausted":
            keys.append(Key(key, _exhausted(w, entry), (entry,)))
        elif key not in PATCH_KEYS or is_plain:
            keys.append(Key(key, w.words.value(entry), (entry,)))
    if is_plain:
        return Block(tuple(keys))
    own = _patches(w, [entry for key, entry in does.items() if key in PATCH_KEYS])
    both = {target: patches.get(target, {}) | own.get(target, {}) for target in PatchTarget}
    return _with_patches(keys, both)


def _exhausted(w: PolicyWriter, entry: Entry) -> Block:
    if isinstance(entry.node, MapNode):
        return _then(w, entry.node.entries, {})
    return Block((Key("do", w.words.value(entry)),))


def _with_patches(keys: list[Key], patches: _Patches) -> Block:
    written = [
        Key(_SET_NAMES[target], Block(tuple(values.values())))
        for target, values in patches.items()
        if values
    ]
    return Block((*keys, *written))


def _patches(w: PolicyWriter, entries: list[Entry]) -> _Patches:
    found: _Patches = {}
    for entry in entries:
        for item in entry.node if isinstance(entry.node, MapNode) else ():
            target, path = patch_target(entry.key, item.key)
            if len(path) > 1:
                raise CannotTranslate(item, "writes inside a value", "Set the whole value.")
            found.setdefault(target, {})[path[0]] = Key(path[0], w.words.value(item), (item,))
    return found


# --- retry blocks --------------------------------------------------------------------------------


def _retry_rules(w: PolicyWriter, entry: Entry, patches: _Patches) -> Iterator[Block]:
    node = entry.node
    if isinstance(node, ScalarNode) and node.value in (None, False):
        return
    fields = node.entries if isinstance(node, MapNode) else {}
    stop, again = _asked(fields.get("stop_when")), _asked(fields.get("retry_when"))
    retry = _retry_keys(w, entry, fields)
    if stop is not None:
        yield _status_rule("error", stop, [Key("do", Inline("fail"))], patches)
        yield _status_rule("ok", stop, [Key("do", Inline("continue"))], patches)
    yield _status_rule("error", again, retry, patches)
    if again is not None:
        polling = [*retry, Key("on_exhausted", Inline("{do: continue}"))]
        yield _status_rule("ok", again, polling, patches)


class _Asked(Struct, frozen=True):
    """A retry condition as an expression that is true exactly where the block's words are."""

    entry: Entry
    expression: str


def _status_rule(status: str, asked: _Asked | None, keys: list[Key], patches: _Patches) -> Block:
    also = f" and {asked.expression}" if asked is not None else ""
    when = scalar(f"{{{{ outcome.status == '{status}'{also} }}}}")
    origins = () if asked is None else (asked.entry,)
    return Block((Key("when", when, origins), Key("then", _with_patches(keys, patches))))


def _asked(entry: Entry | None) -> _Asked | None:
    if entry is None or not isinstance(entry.node, ScalarNode) or entry.node.value is None:
        return None
    value = entry.node.value
    text = value if isinstance(value, str) else entry.node.text.lower()
    expression = inner_expression(text) if text.strip() else "false"
    if expression is None:
        raise _around(entry)
    if _NODE_ID.search(expression):
        raise CannotTranslate(entry, "reads `node_id`", "Compare with the step's name instead.")
    try:
        translated = translate(expression, retry_words, is_condition=True)
        return _Asked(entry, as_operand(one_line(translated)))
    except Untranslatable as problem:
        raise CannotTranslate(entry, str(problem), problem.remedy) from problem
    except ExpressionError as error:
        raise _around(entry) from error


def _around(entry: Entry) -> CannotTranslate:
    return CannotTranslate(entry, "is a text around an expression", "Write one expression.")


_RETRY_SETTINGS = (
    ("max_attempts", "attempts", "3"),
    ("initial_delay", "delay", "1.0"),
    ("backoff_multiplier", "multiplier", None),
    ("max_delay", "max_delay", "60.0"),
    ("jitter", "jitter", "true"),
)


def _retry_keys(w: PolicyWriter, block: Entry, fields: Mapping[str, Entry]) -> list[Key]:
    keys = [Key("do", Inline("retry")), Key("backoff", Inline("exponential"))]
    for old, new, default in _RETRY_SETTINGS:
        entry = fields.get(old)
        is_count = isinstance(block.node, ScalarNode) and block.node.value is not True
        if entry is None and old == "max_attempts" and is_count:
            entry = block
        if entry is not None:
            keys.append(Key(new, w.words.value(entry), (entry,)))
        elif default is not None:
            keys.append(Key(new, Inline(default)))
    return keys
