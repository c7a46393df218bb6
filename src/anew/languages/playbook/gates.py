"""Read what a step's `spec` says: who may enter, how tokens join, what a failure does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, Item, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.languages.playbook.desugar.specs import ADMIT_FORMS
from anew.languages.playbook.durations import seconds_of
from anew.languages.playbook.goals import read_gate
from anew.languages.playbook.joining import read_join
from anew.program.program import AdmitRule, FailureMode, Gate, Gather, Join
from anew.program.span import NOWHERE, Span

_SPEC_KEYS = ("policy", "join", "pool", "runs_on", "gate", "exit", "visits_max")
_POLICY_KEYS = ("admit", "failure", "lifecycle")
# What only a task's policy may hold, wherever it stands in another policy.
_DIRECTIVE_SIGNS = frozenset(
    "rules then do retry eval attempts backoff on_unmatched on_exhausted".split()
)
_DIRECTIVE_WORDS = frozenset("continue retry jump break fail".split())
# Where such a word alone can only be meant as a directive.
_WORD_PLACES = frozenset({"policy", *_POLICY_KEYS, "exec"})
_ADMIT_FORM = f"Write {ADMIT_FORMS}."
_RULES_PLACE = "Move it to the task: `- label: {kind: …, spec: {policy: {rules: […]}}}`."


class StepSpec(Struct, frozen=True):
    admit: tuple[AdmitRule, ...] = ()
    join: Join = Join.ALL
    failure: FailureMode | None = None
    deadline_seconds: float | None = None
    pool: str | None = None
    gather: Gather | None = None
    gate: Gate | None = None
    is_exit: bool = False
    rescue: str | None = None
    rescue_span: Span = NOWHERE
    visits_max: int | None = None


def read_step_spec(c: Compilation, entry: Entry | None) -> StepSpec:
    """A step's `spec`."""
    node = c.mapping(entry, "a step's spec")
    if node is None:
        return StepSpec()
    c.check_keys(node, _SPEC_KEYS, "a step's spec")
    join, gather = read_join(c, node.get("join"))
    spec = StepSpec(
        join=join,
        pool=read_pool(c, node.get("pool")),
        gather=gather,
        gate=read_gate(c, node.get("gate")),
        is_exit=bool(c.flag(node.get("exit"), "exit")),
        visits_max=c.whole_number(node.get("visits_max"), "visits_max", rule="limit.value"),
    )
    policy = read_other_policy(c, node, _POLICY_KEYS, "a step")
    if policy is None:
        return spec
    what = f"a failure of step {c.step!r} goes to"
    failure = read_failure(c, policy.get("failure"), way="goto", what=what)
    return replace(
        spec,
        admit=_read_admit(c, policy.get("admit")),
        failure=failure.mode,
        rescue=failure.to,
        rescue_span=failure.place,
        deadline_seconds=_read_deadline(c, policy.get("lifecycle")),
    )


def read_pool(c: Compilation, entry: Entry | None) -> str | None:
    """The name of a pool; it is known before a run starts, so it cannot be a template."""
    if entry is None or is_null(entry.node):
        return None
    name = c.text(entry, "pool")
    if name is not None and ("{{" in name or not name.strip()):
        message = f"pool must be the name of a pool of workers; found {shown(entry.node)}"
        c.report("value.type", entry.node.span, message, "Write `pool: heavy`.")
        return None
    return name


def read_other_policy(
    c: Compilation, spec: MapNode, known: tuple[str, ...], what: str
) -> MapNode | None:
    """The policy of something that is not a task; task directives in it are reported."""
    entry = spec.get("policy")
    if entry is None or is_null(entry.node):
        return None
    signs = list(_directives(entry))
    for place, sign in signs:
        message = f"the policy of {what} cannot hold `{sign}`: only a task decides on outcomes"
        c.report("policy.misplaced", place, message, _RULES_PLACE)
    if signs and not isinstance(entry.node, MapNode):
        return None
    node = c.mapping(entry, f"the policy of {what}")
    if node is not None:
        _check_keys(c, node, known, f"the policy of {what}")
    return node


def _check_keys(c: Compilation, node: MapNode, known: tuple[str, ...], what: str) -> None:
    """Warn of unknown keys, except where a misplaced directive was already reported."""
    for entry in node:
        is_reported = entry.key in _DIRECTIVE_SIGNS or holds_directives(entry)
        if entry.key not in known and not is_reported:
            c.unknown_key(entry, known, what)


def holds_directives(entry: Entry) -> bool:
    """Whether a task directive stands in a part of a policy."""
    return any(True for _ in _directives(entry))


def _directives(entry: Entry) -> Iterator[tuple[Span, str]]:
    """Where task directives stand below a policy; gates have rules of their own."""
    node = entry.node
    if isinstance(node, ScalarNode):
        if _is_directive_word(entry):
            yield node.span, node.text
        return
    maps = [node] if isinstance(node, MapNode) else [item.node for item in node.items]
    for inner in (part for part in maps if isinstance(part, MapNode)):
        for below in inner:
            if below.key in _DIRECTIVE_SIGNS:
                yield below.place, below.key
            elif below.key != "admit":
                yield from _directives(below)


def _is_directive_word(entry: Entry) -> bool:
    node = entry.node
    is_word = isinstance(node, ScalarNode) and node.text in _DIRECTIVE_WORDS
    return is_word and entry.key in _WORD_PLACES


class Failing(Struct, frozen=True):
    """What a failure does that no arc handles: the step `to` takes it, as `place` says."""

    mode: FailureMode | None = None
    to: str | None = None
    place: Span = NOWHERE


def read_failure(c: Compilation, entry: Entry | None, *, way: str, what: str) -> Failing:
    """`{mode: fail_fast | best_effort}`, and the step that `way` names."""
    node = _other_part(c, entry, "failure")
    if node is None:
        return Failing()
    _check_keys(c, node, ("mode", way), "failure")
    mode = c.word(node.get("mode"), FailureMode, rule="failure.mode", what="failure mode")
    said = node.get(way)
    to = c.known_step(said, rule="target.unknown", what=what)
    return Failing(mode, to, NOWHERE if said is None else said.place)


def _other_part(c: Compilation, entry: Entry | None, what: str) -> MapNode | None:
    """A part of a policy, unless it was already reported as a task directive."""
    return None if entry is not None and _is_directive_word(entry) else c.mapping(entry, what)


def _read_deadline(c: Compilation, entry: Entry | None) -> float | None:
    node = _other_part(c, entry, "lifecycle")
    if node is None:
        return None
    _check_keys(c, node, ("timeout_s",), "lifecycle")
    found = node.get("timeout_s")
    if found is None:
        return None
    seconds = seconds_of(found.node)
    if not seconds:
        message = f"timeout_s must be seconds above 0; found {shown(found.node)}"
        c.report("tool.timeout", found.node.span, message, "Write `timeout_s: 60`.")
    return seconds or None


# --- admission -----------------------------------------------------------------------------------


def _read_admit(c: Compilation, entry: Entry | None) -> tuple[AdmitRule, ...]:
    node = c.mapping(entry, "admit")
    if node is None:
        return ()
    c.check_keys(node, ("rules",), "admit")
    rules = c.sequence(node.get("rules"), "rules")
    found = (_read_admit_rule(c, item) for item in (rules.items if rules else ()))
    return tuple(rule for rule in found if rule is not None)


def _read_admit_rule(c: Compilation, item: Item) -> AdmitRule | None:
    node = item.node
    if not isinstance(node, MapNode):
        c.report(
            "admit.rule", node.span, f"a rule must be a mapping; found {shown(node)}", _ADMIT_FORM
        )
        return None
    c.check_keys(node, ("when", "then", "else", "allow"), "an admission rule")
    otherwise, when = node.get("else"), node.get("when")
    condition = None
    if when is not None and otherwise is None:
        condition = c.condition(when.node, Site.ROUTING, what="when")
    elif when is not None:
        c.ignored(when, "together with `else`", "Keep one of the two.")
    holder, fields = item.place, node.entries
    if otherwise is not None and isinstance(otherwise.node, MapNode):
        holder, fields = otherwise.holder, otherwise.node.entries
    then = fields.get("then")
    if then is not None and isinstance(then.node, MapNode):
        holder, fields = then.holder, then.node.entries
    allow = _read_allow(c, fields)
    if allow is None and "do" not in fields:
        c.report("admit.rule", holder, "an admission rule does not say `allow`", _ADMIT_FORM)
    return AdmitRule(bool(allow), condition, item.place)


def _read_allow(c: Compilation, fields: Mapping[str, Entry]) -> bool | None:
    if "do" in fields:
        message = "an admission rule cannot hold `do`: only a task decides on outcomes"
        c.report("policy.misplaced", fields["do"].place, message, _ADMIT_FORM)
    entry = fields.get("allow")
    if entry is None or is_null(entry.node):
        return None
    allow = c.flag(entry, "allow")
    return False if allow is None else allow
