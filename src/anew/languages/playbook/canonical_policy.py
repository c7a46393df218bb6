"""Build `spec.policy` from a retry block, from `eval`, and from rules in other forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from anew.expressions import ExpressionError
from anew.languages.nodes import Entry, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.emit import Block, Inline, Key, Out, Raw, Rows, scalar
from anew.languages.playbook.forms import TaskForm
from anew.languages.playbook.patches import PATCH_KEYS, patch_target
from anew.languages.playbook.policies import RuleShape, rule_shape
from anew.languages.playbook.translate import (
    as_operand,
    inner_expression,
    retry_words,
    translate,
)
from anew.languages.playbook.translating import Words
from anew.program.policy import PatchTarget
from anew.program.program import Dialect

_FAIL_ON_ERROR = "\"{{ outcome.status == 'error' }}\""
_SET_NAMES = {PatchTarget.CTX: "set_ctx", PatchTarget.ITER: "set_iter"}
_NODE_ID = re.compile(r"\bnode_id\b")
_Patches = dict[PatchTarget, dict[str, Out]]


class PolicyWriter(Struct, frozen=True):
    """`words` translate the rules' expressions."""

    c: Compilation
    dialect: Dialect
    words: Words


def policy_block(w: PolicyWriter, form: TaskForm) -> Key | None:
    """The `policy` of a task, or None when the defaults are meant."""
    patches = _patches(w, [form.fields["set"]]) if "set" in form.fields else {}
    retry, evaluation = form.fields.get("retry"), form.fields.get("eval")
    if retry is not None:
        rules, origin = list(_retry_rules(retry.node, patches)), retry
        fails = True
    elif evaluation is not None:
        rules, origin = _rules(w, evaluation.node, patches), evaluation
        fails = True
    else:
        given = _given_policy(form)
        if given is None:
            return _patched_defaults(form, patches)
        return _rewritten(w, given, patches)
    keys: list[Key] = []
    if not rules:
        return _patched_defaults(form, patches)
    if patches:
        rules += _defaults(patches, fails=True)
    elif fails and not _has_else(rules):
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
    keys = [Key("on_unmatched", Raw(unmatched), (unmatched,))] if unmatched is not None else []
    value: Out = Rows(tuple(built)) if built else Inline("[]")
    return Key("policy", Block((*keys, Key("rules", value, ()))), (entry,) if not built else ())


def _has_else(rules: list[Block]) -> bool:
    return any(rule.keys[0].name == "else" for rule in rules)


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
            built.append(_rule(w, shape, patches))
    return built


def _rule(w: PolicyWriter, shape: RuleShape, patches: _Patches) -> Block:
    then = Key("then", _then(w, shape.does, patches))
    if shape.when is None:
        return Block((Key("else", Block((then,))),))
    return Block((Key("when", w.words.condition(shape.when), (shape.when,)), then))


def _then(w: PolicyWriter, does: Mapping[str, Entry], patches: _Patches) -> Block:
    keys = [] if "do" in does else [Key("do", Inline("continue"))]
    for key, entry in does.items():
        if key == "on_exhausted" and isinstance(entry.node, MapNode):
            inner = _then(w, entry.node.entries, {})
            keys.append(Key(key, inner, (entry,)))
        elif key not in PATCH_KEYS:
            keys.append(Key(key, w.words.value(entry), (entry,)))
    own = _patches(w, [does[key] for key in PATCH_KEYS if key in does])
    both = {target: patches.get(target, {}) | own.get(target, {}) for target in PatchTarget}
    return _with_patches(keys, both)


def _with_patches(keys: list[Key], patches: _Patches) -> Block:
    written = [
        Key(_SET_NAMES[target], Block(tuple(Key(name, value) for name, value in values.items())))
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
            found.setdefault(target, {})[".".join(path)] = w.words.value(item)
    return found


# --- retry blocks --------------------------------------------------------------------------------


def _retry_rules(node: Node, patches: _Patches) -> Iterator[Block]:
    if isinstance(node, ScalarNode) and node.value in (None, False):
        return
    fields = node.entries if isinstance(node, MapNode) else {}
    stop, again = _condition(fields.get("stop_when")), _condition(fields.get("retry_when"))
    retry = _retry_keys(node, fields)
    if stop is not None:
        yield _status_rule("error", stop, [Key("do", Inline("fail"))], patches)
        yield _status_rule("ok", stop, [Key("do", Inline("continue"))], patches)
    yield _status_rule("error", again, retry, patches)
    if again is not None:
        polling = [*retry, Key("on_exhausted", Inline("continue"))]
        yield _status_rule("ok", again, polling, patches)


def _status_rule(status: str, condition: str | None, keys: list[Key], patches: _Patches) -> Block:
    also = f" and {condition}" if condition is not None else ""
    when = scalar(f"{{{{ outcome.status == '{status}'{also} }}}}")
    return Block((Key("when", when), Key("then", _with_patches(keys, patches))))


def _condition(entry: Entry | None) -> str | None:
    """A retry condition as an expression that is true exactly where the block's words are."""
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
        return as_operand(translate(expression, retry_words, is_condition=True))
    except ExpressionError as error:
        raise _around(entry) from error


class CannotTranslate(Exception):
    """Something has no canonical form with the same meaning; its step stays as it is."""

    def __init__(self, entry: Entry, why: str, remedy: str) -> None:
        super().__init__(f"`{entry.key}` {why}, which has no canonical form")
        self.entry = entry
        self.remedy = remedy


def _around(entry: Entry) -> CannotTranslate:
    return CannotTranslate(entry, "is a text around an expression", "Write one expression.")


_RETRY_SETTINGS = (
    ("max_attempts", "attempts", "3"),
    ("initial_delay", "delay", "1.0"),
    ("backoff_multiplier", "multiplier", None),
    ("max_delay", "max_delay", "60.0"),
    ("jitter", "jitter", "true"),
)


def _retry_keys(node: Node, fields: Mapping[str, Entry]) -> list[Key]:
    keys = [Key("do", Inline("retry")), Key("backoff", Inline("exponential"))]
    for old, new, default in _RETRY_SETTINGS:
        entry = fields.get(old)
        if entry is not None:
            keys.append(Key(new, scalar(plain(entry.node))))
        elif old == "max_attempts" and isinstance(node, ScalarNode) and node.value is not True:
            keys.append(Key(new, scalar(node.value)))
        elif default is not None:
            keys.append(Key(new, Inline(default)))
    return keys
