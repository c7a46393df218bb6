"""Read how tokens meet at a step: `spec.join`, as a word or as the policy for a fork's branches."""

from __future__ import annotations

from enum import StrEnum

from anew.languages.nodes import Entry, MapNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.keys import JOIN_KEYS
from anew.program.program import Gather, Join, JoinPolicy

_K_FORM = "Write `join: {policy: k_of_n, k: 2}`."


class JoinWord(StrEnum):
    """The words of `join`: for tokens, then for the branches of a fork."""

    ALL = Join.ALL.value
    EACH = Join.EACH.value
    WAIT_ALL = JoinPolicy.WAIT_ALL.value
    FIRST_SUCCESS = JoinPolicy.FIRST_SUCCESS.value
    QUORUM = JoinPolicy.QUORUM.value
    K_OF_N = JoinPolicy.K_OF_N.value


_TOKENS = frozenset({JoinWord.ALL, JoinWord.EACH})


def read_join(c: Compilation, entry: Entry | None) -> tuple[Join, Gather | None]:
    """How tokens join, and how branches do where the step says so."""
    if entry is None or is_null(entry.node):
        return Join.ALL, None
    if isinstance(entry.node, MapNode):
        # The branches of a fork are counted by the fork; other tokens have nothing to wait for.
        return Join.EACH, _read_gather(c, entry, entry.node)
    word = c.word(entry, JoinWord, rule="step.join", what="join")
    if word is None:
        return Join.ALL, None
    if word in _TOKENS:
        return Join(word.value), None
    if word is JoinWord.K_OF_N:
        c.report("join.k", entry.node.span, "join: k_of_n does not say how many", _K_FORM)
    return Join.EACH, Gather(JoinPolicy(word.value), span=entry.node.span)


def _read_gather(c: Compilation, entry: Entry, node: MapNode) -> Gather:
    c.check_keys(node, JOIN_KEYS, "join")
    policy = c.word(node.get("policy"), JoinPolicy, rule="step.join", what="join policy")
    merges = c.flag(node.get("merge"), "merge")
    return Gather(
        policy=policy or JoinPolicy.WAIT_ALL,
        k=_read_k(c, entry, node, policy),
        merges=True if merges is None else merges,
        lenient=bool(c.flag(node.get("lenient"), "lenient")),
        span=entry.place,
    )


def _read_k(c: Compilation, entry: Entry, node: MapNode, policy: JoinPolicy | None) -> int | None:
    given = node.get("k")
    if policy is not JoinPolicy.K_OF_N:
        if given is not None:
            c.ignored(given, f"with `policy: {policy or JoinPolicy.WAIT_ALL}`", _K_FORM)
        return None
    if given is None:
        c.report(
            "join.k", entry.holder, "join: k_of_n does not say how many: `k` is missing", _K_FORM
        )
    return c.whole_number(given, "k", rule="join.k")
