"""Read the policies of what is not a task: of steps, loops, routers, arcs and the executor.

Only a task decides on outcomes; a directive that stands in another policy is reported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from anew.languages.nodes import Entry, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.program.policy import DirectiveKind
from anew.program.program import FailureMode
from anew.program.span import NOWHERE, Span

# What only a task's policy may hold, wherever it stands in another policy.
_DIRECTIVE_SIGNS = frozenset(
    "rules then do retry eval attempts backoff on_unmatched on_exhausted".split()
)
_DIRECTIVE_WORDS = frozenset(DirectiveKind)
# Where such a word alone can only be meant as a directive.
_WORD_PLACES = frozenset("policy admit failure lifecycle exec".split())
_RULES_PLACE = "Move it to the task: `- label: {kind: …, spec: {policy: {rules: […]}}}`."


def read_other_policy(
    c: Compilation,
    spec: MapNode,
    known: tuple[str, ...],
    what: str,
    *,
    idle: Mapping[str, str] | None = None,
) -> MapNode | None:
    """The policy of something that is not a task; task directives in it are reported.

    `idle` are keys of another runtime that do nothing, with their remedies.
    """
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
        for entry in node:
            if entry.key in (idle or ()):
                c.without_effect(entry, (idle or {})[entry.key])
        check_policy_keys(c, node, (*known, *(idle or ())), f"the policy of {what}")
    return node


def check_policy_keys(c: Compilation, node: MapNode, known: tuple[str, ...], what: str) -> None:
    """Refuse unknown keys, except where a misplaced directive was already reported."""
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
    node = policy_part(c, entry, "failure")
    if node is None:
        return Failing()
    check_policy_keys(c, node, ("mode", way), "failure")
    mode = c.word(node.get("mode"), FailureMode, rule="failure.mode", what="failure mode")
    said = node.get(way)
    to = c.known_step(said, rule="target.unknown", what=what)
    return Failing(mode, to, NOWHERE if said is None else said.place)


def policy_part(c: Compilation, entry: Entry | None, what: str) -> MapNode | None:
    """A part of a policy, unless it was already reported as a task directive."""
    return None if entry is not None and _is_directive_word(entry) else c.mapping(entry, what)
